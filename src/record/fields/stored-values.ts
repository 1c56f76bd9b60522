import type { RecordField, StoredValue } from './record-field.ts';

/**
 * The values of the fields that records of the admin listener have, in the order of the table: what a stored record
 * consists of. Their names are added when a record is read.
 */
export function valuesStorer<T>(fields: readonly RecordField<T>[]): (of: T) => StoredValue[] {
  const stored = fields.filter(({ record }) => record !== undefined).map(storedOf);
  return (of) => stored.map((value) => value(of));
}

function storedOf<T>(field: RecordField<T>): (of: T) => StoredValue {
  switch (field.as) {
    case 'ms':
      // Printing an integer takes a fifth of the time of a fraction (measured).
      return (of) => {
        const ms = field.value(of);
        return ms === undefined ? undefined : Math.round(ms * 1000);
      };
    case 'time':
      return (of) => {
        const ms = field.value(of);
        return ms === undefined ? undefined : Math.trunc(ms);
      };
    case 'rows':
      return field.stored;
    default:
      return field.value;
  }
}

/** Adds the names to stored values. Absent values have none. */
export function valuesNamer<T>(
  fields: readonly RecordField<T>[],
): (stored: readonly StoredValue[]) => Record<string, unknown> {
  const named = fields.filter(({ record }) => record !== undefined);
  return (stored) => {
    const object: Record<string, unknown> = {};
    for (const [index, field] of named.entries()) {
      const value = stored[index];
      if (value !== undefined && value !== null) object[field.record!] = shown(field, value);
    }
    return object;
  };
}

function shown<T>(field: RecordField<T>, value: NonNullable<StoredValue>): unknown {
  if (field.as === 'rows') return field.named(value as StoredValue[][]);
  if (field.as === 'ms') return (value as number) / 1000;
  return field.as === 'time' ? new Date(value as number).toISOString() : value;
}
