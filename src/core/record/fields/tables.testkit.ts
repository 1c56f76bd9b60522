import type { Attributes } from '@opentelemetry/api';
import { scrub } from '../scrub.ts';
import type { AnyField } from './record-field.ts';

// The meaning of the tables of fields, as plainly as possible: the generated code equals it, byte by byte.

type Of = Readonly<Record<string, unknown>>;

/** Each field with its value; those of a part stand in place of it. */
function* valuesIn(table: readonly AnyField[], of: unknown): Generator<{ field: AnyField; value: unknown }> {
  for (const field of table) {
    // A row has the name of a property, or a function of just these objects.
    const value = typeof field.value === 'string' ? (of as Of)[field.value] : field.value(of as never);
    if (field.as !== 'part') yield { field, value };
    else if (value !== undefined) yield* valuesIn(field.fields ?? [], value);
  }
}

const rounded = (ms: unknown): number => Math.round((ms as number) * 1000) / 1000;
const isNotFinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value);

function jsonOf({ as, fields = [] }: AnyField, value: unknown): string {
  if (as === 'group') return `{${membersOf(fields, value).join(',')}}`;
  if (as === 'rows')
    return `[${(value as unknown[]).map((item) => `{${membersOf(fields, item).join(',')}}`).join(',')}]`;
  if (as === 'time') return JSON.stringify(new Date(value as number));
  return scrub(JSON.stringify(as === 'ms' ? rounded(value) : value));
}

/** The members of an object in the access line: `"status":200`. */
export function membersOf(table: readonly AnyField[], of: unknown): string[] {
  return [...valuesIn(table, of)].flatMap(({ field, value }) => {
    const { line, as, orNull } = field;
    const isAbsent = value === undefined || (as === 'rows' && (value as unknown[]).length === 0);
    if (line === undefined || (isAbsent && !orNull)) return [];
    return [`"${line}":${isAbsent ? 'null' : jsonOf(field, value)}`];
  });
}

/** The object of a stored record. @param notFinite in place of NaN and infinities; undefined leaves the field out */
export function storedOf(table: readonly AnyField[], of: unknown, notFinite?: null): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const { field, value: found } of valuesIn(table, of)) {
    const value = found === undefined ? undefined : storedValue(field, found);
    const shown = isNotFinite(value) ? notFinite : value;
    if (field.record !== undefined && shown !== undefined) stored[field.record] = shown;
  }
  return stored;
}

function storedValue({ as, fields = [] }: AnyField, value: unknown): unknown {
  if (as === 'rows') return (value as unknown[]).map((item) => storedOf(fields, item));
  if (as === 'group') return storedOf(fields, value, null);
  if (as === 'ms') return rounded(value);
  if (as === 'time') return isNotFinite(value) ? undefined : new Date(value as number).toISOString();
  return value;
}

export function attributesOf(table: readonly AnyField[], of: unknown): Attributes {
  const attributes: Attributes = {};
  for (const { field, value } of valuesIn(table, of))
    if (field.span !== undefined && value !== undefined) attributes[field.span] = value;
  return attributes;
}
