import type { ConditionInput } from '../../../core/kernel/index.ts';
import { readQuery, unchecked, type QueryShape } from '../../../core/settings/query/read.ts';
import type { Decide } from '../explain/decided-conditions.ts';
import type { RecordedFacts } from './sample.ts';

/** Undefined: not known. */
type Truth = boolean | undefined;

/** The values that a field may have. Undefined: not known. */
type ValuesOf = (field: string) => readonly unknown[] | undefined;

export interface UnknownCondition {
  readonly at: string;
  readonly index: number;
  readonly fields: readonly string[];
}

interface ReadTruth {
  readonly truth: Truth;
  /** The fields that the query compares, and the values that each may have. */
  readonly read: ReadonlyMap<string, readonly unknown[] | undefined>;
  /** Fields that are not known well enough. */
  readonly unread: readonly string[];
}

/** Decides whether a query holds for all values that its fields may have. */
export function truthOf(query: unknown, valuesOf: ValuesOf): ReadTruth {
  const read = new Map<string, readonly unknown[] | undefined>();
  const unread = new Set<string>();
  // Patterns add up their cost by the request.
  const account = {};
  const shape: QueryShape<Truth> = {
    level: all,
    list: (key, parts) => (key === '$and' ? all(parts) : any(parts)),
    not: (truth) => (truth === undefined ? undefined : !truth),
    compare({ name }, comparisons) {
      const values = valuesOf(name);
      read.set(name, values);
      const truths = values?.map((value) => comparisons.every(({ test }) => test(value, account))) ?? [];
      const [first] = truths;
      if (first !== undefined && truths.every((truth) => truth === first)) return first;
      unread.add(name);
      return undefined;
    },
    never: () => false,
  };
  return { truth: readQuery(query, unchecked(), shape), read, unread: [...unread] };
}

function all(parts: readonly Truth[]): Truth {
  if (parts.includes(false)) return false;
  return parts.includes(undefined) ? undefined : true;
}

function any(parts: readonly Truth[]): Truth {
  if (parts.includes(true)) return true;
  return parts.includes(undefined) ? undefined : false;
}

/**
 * Decides the conditions of a recorded request: by the values that are known, else as the record says of the same condition, if what is known
 * of its fields is the same.
 * @param decided what the record says of conditions: the settings of the record fill it
 */
export function decideByRecord(
  facts: RecordedFacts,
  { isOfRecord, decided }: { readonly isOfRecord: boolean; readonly decided: Map<string, boolean> },
): { readonly decide: Decide; readonly unknown: UnknownCondition[] } {
  const unknown: UnknownCondition[] = [];
  const decide: Decide = ({ query, at, index }, request) => {
    const { truth, read, unread } = truthOf(query, valuesIn(facts, request));
    // Settings may change what a condition reads: metadata of keys, targets of aliases.
    const key = JSON.stringify([query, [...read]]);
    const said = isOfRecord ? recordedTruth(facts, at, index) : undefined;
    if (said !== undefined) decided.set(key, said);
    const known = truth ?? decided.get(key);
    if (known === undefined) unknown.push({ at, index, fields: unread });
    return known ?? false;
  };
  return { decide, unknown };
}

/** Undefined: the record does not say; an earlier condition held. */
function recordedTruth({ held }: RecordedFacts, at: string, index: number): boolean | undefined {
  if (!held.has(at)) return undefined;
  const chosen = held.get(at);
  return chosen === undefined || index <= chosen ? index === chosen : undefined;
}

/** Fields whose values come from the simulated run, not from the conditions in the record. */
export const OF_RUN = ['model', 'params.model', 'operation', 'path'] as const;

/** The values that the fields of a recorded request may have. */
export const valuesIn =
  (facts: RecordedFacts, { metadata, request, operation }: ConditionInput): ValuesOf =>
  (field) => {
    if (field.startsWith('metadata.')) return metadataOf(field.slice('metadata.'.length), metadata, facts);
    if (field === 'operation') return [operation?.id];
    if (field === 'path') return [request.path];
    // The body is released once an attempt has answered.
    if (field === 'model' || field === 'params.model') return [request.body?.string('model') ?? facts.model];
    return facts.values.get(field.startsWith('headers.') ? field.toLowerCase() : field);
  };

/** The values of the run come from the record, or from the key. */
function metadataOf(
  name: string,
  now: ConditionInput['metadata'],
  { unknownMetadata, hasAllMetadata }: Pick<RecordedFacts, 'unknownMetadata' | 'hasAllMetadata'>,
): readonly unknown[] | undefined {
  if (Object.hasOwn(now, name)) return [now[name]];
  return hasAllMetadata && !unknownMetadata.has(name) ? [undefined] : undefined;
}
