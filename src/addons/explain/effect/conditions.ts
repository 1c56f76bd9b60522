import type { ConditionInput } from '../../../core/kernel/index.ts';
import { readQuery, unchecked, type QueryShape } from '../../../core/settings/query/read.ts';
import type { Decide } from '../explain/decided-conditions.ts';
import type { RecordedFacts } from './sample.ts';

/** Undefined: not known. */
type Truth = boolean | undefined;

/** The values that a field may have. Undefined: not known. */
export type ValuesOf = (field: string) => readonly unknown[] | undefined;

export interface UnknownCondition {
  readonly at: string;
  readonly index: number;
  readonly fields: readonly string[];
}

/** Decides whether a query holds for all values that its fields may have. @param unread gets the fields that are not known */
export function truthOf(query: unknown, valuesOf: ValuesOf, unread: Set<string>): Truth {
  // Patterns add up their cost by the request.
  const account = {};
  const shape: QueryShape<Truth> = {
    level: all,
    list: (key, parts) => (key === '$and' ? all(parts) : any(parts)),
    not: (truth) => (truth === undefined ? undefined : !truth),
    compare({ name }, comparisons) {
      const values = valuesOf(name);
      const truths = values?.map((value) => comparisons.every(({ test }) => test(value, account))) ?? [];
      const [first] = truths;
      if (first !== undefined && truths.every((truth) => truth === first)) return first;
      unread.add(name);
      return undefined;
    },
    never: () => false,
  };
  return readQuery(query, unchecked(), shape);
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
 * Decides the conditions of a request that a record is of: by what the record says of the same condition, else by the values that are known.
 * @param decided what the record says of conditions, by their queries; the settings of the record fill it
 */
export function decideByRecord(
  facts: RecordedFacts,
  { isOfRecord, decided }: { readonly isOfRecord: boolean; readonly decided: Map<string, boolean> },
): { readonly decide: Decide; readonly unknown: UnknownCondition[] } {
  const unknown: UnknownCondition[] = [];
  const decide: Decide = ({ query, at, index }, request) => {
    const { held } = facts;
    const key = JSON.stringify(query);
    if (isOfRecord && held.has(at)) {
      const chosen = held.get(at);
      const holds = index === chosen;
      if (chosen === undefined || index <= chosen) decided.set(key, holds);
    }
    const said = decided.get(key);
    if (said !== undefined) return said;
    const unread = new Set<string>();
    const truth = truthOf(query, valuesIn(facts, request), unread);
    if (truth === undefined) unknown.push({ at, index, fields: [...unread] });
    return truth ?? false;
  };
  return { decide, unknown };
}

/** Fields whose values a run has whenever the record has them. */
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

/** What the run has comes from the record, or from the key. */
function metadataOf(
  name: string,
  now: ConditionInput['metadata'],
  { unknownMetadata, hasAllMetadata }: Pick<RecordedFacts, 'unknownMetadata' | 'hasAllMetadata'>,
): readonly unknown[] | undefined {
  if (Object.hasOwn(now, name)) return [now[name]];
  return hasAllMetadata && !unknownMetadata.has(name) ? [undefined] : undefined;
}
