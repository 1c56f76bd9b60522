import type { ListedPlugin } from '../../../core/compose/chain-builder.ts';

/** A header that a plugin set, with the value that it set. */
interface Mark {
  /** Undefined: the header has another source. */
  readonly place: ListedPlugin | undefined;
  readonly value: string;
}

/** Values by names in lower case. */
export type HeaderValues = ReadonlyMap<string, string>;

/** Which plugin set which header: the difference between the headers before and after a plugin's own work. */
export class HeaderMarks {
  readonly #marks = new Map<string, Mark>();

  note(place: ListedPlugin | undefined, before: HeaderValues, after: HeaderValues): void {
    for (const [name, value] of after) {
      // A plugin that runs a chain (`config`, `route`) finds the headers that plugins of this chain have set.
      if (before.get(name) !== value && this.#marks.get(name)?.value !== value) this.#marks.set(name, { place, value });
    }
  }

  /** The plugin that set this value. */
  setterOf(name: string, value: string): ListedPlugin | undefined {
    const mark = this.#marks.get(name.toLowerCase());
    return mark?.value === value ? mark.place : undefined;
  }
}
