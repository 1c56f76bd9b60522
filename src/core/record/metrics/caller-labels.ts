import type { RequestRecord } from '../record.ts';
import { KEY_ID, NO_CALLER, OTHER, TEAM, type CallerLabels } from './metric-spec.ts';
import type { LabelledCallers } from './request-metrics.ts';

/** Maximum number of values of a metadata label that only callers write. Further ones count as `__other__`. */
export const MAX_VALUES = 100;
/** Longer values count as `__other__`. */
const MAX_LENGTH = 64;

export interface MetadataLabel {
  readonly key: string;
  readonly name: string;
  readonly known: ReadonlySet<string>;
}

interface Label extends MetadataLabel {
  /** Values of callers, in the order of their first request. */
  readonly seen: Set<string>;
}

/**
 * The labels of a request's caller: the id of its key, the key's team, and the metadata that the settings choose.
 * Values of keys.yaml are always labels; of those that callers write, the first `MAX_VALUES` are. A request without a
 * value has no such label, so that the settings can change without a second series of the same labels.
 */
export class CallersAsLabels implements LabelledCallers {
  #labels: readonly Label[] = [];
  /** By key id: the labels of most requests. Bounded by keys.yaml. */
  readonly #byKey = new Map<string, CallerLabels>();

  /** Applies new settings. Values that are labels already remain labels. */
  apply(labels: readonly MetadataLabel[]): void {
    const before = new Map(this.#labels.map((label) => [label.key, label.seen]));
    // In one order, because several processes must write the same labels.
    this.#labels = labels
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((label) => ({ ...label, seen: before.get(label.key) ?? new Set() }));
    this.#byKey.clear();
  }

  labelsOf({
    keyId = '',
    team,
    metadata,
  }: Pick<RequestRecord, 'keyId' | 'metadata'> & Partial<Pick<RequestRecord, 'team'>>): CallerLabels {
    const own = this.#ofKey(keyId, team);
    let { key } = own;
    let labels: Record<string, string> | undefined;
    if (metadata)
      for (const label of this.#labels) {
        const value = Object.hasOwn(metadata, label.key) ? metadata[label.key] : undefined;
        if (value === undefined || value === '') continue;
        const shown = valueOf(label, value);
        labels ??= { ...own.labels };
        labels[label.name] = shown;
        key += `\u0000${label.name}\u0000${shown}`;
      }
    return labels ? { key, labels } : own;
  }

  #ofKey(keyId: string, team = ''): CallerLabels {
    const found = keyId === '' ? NO_CALLER : this.#byKey.get(keyId);
    // A reload may move a key to another team, while requests with the settings before it still run.
    if (found && (found.labels[TEAM] ?? '') === team) return found;
    const made =
      team === ''
        ? { key: keyId, labels: { [KEY_ID]: keyId } }
        : { key: `${keyId}\u0000${TEAM}\u0000${team}`, labels: { [KEY_ID]: keyId, [TEAM]: team } };
    this.#byKey.set(keyId, made);
    return made;
  }
}

function valueOf({ known, seen }: Label, value: string): string {
  if (known.has(value) || seen.has(value)) return value;
  if (seen.size >= MAX_VALUES || value.length > MAX_LENGTH) return OTHER;
  seen.add(value);
  return value;
}
