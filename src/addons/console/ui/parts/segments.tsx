import type { ComponentChildren } from 'preact';

interface SegmentsProps<Name> {
  readonly label: string;
  readonly of: readonly (readonly [name: Name, shown: ComponentChildren])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** One of a few, beside each other. */
export const Segments = <Name extends string>({ label, of, chosen, onChoose }: SegmentsProps<Name>) => (
  <div class="segments" role="group" aria-label={label}>
    {of.map(([name, shown]) => (
      <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
        {shown}
      </button>
    ))}
  </div>
);
