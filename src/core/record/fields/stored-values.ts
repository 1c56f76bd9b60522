import type { RecordField, StoredValue, StoreValues, ValueReader } from './record-field.ts';

/**
 * The values of the fields that records of the admin listener have, in the order of the table: what a stored record
 * consists of. Their names are added when a record is read.
 */
export function valuesStorer<T>(fields: readonly RecordField<T>[]): StoreValues<T> {
  const stored = fields.filter(({ record }) => record !== undefined).map(storerOf);
  return (of, into, at) => {
    let next = at;
    for (const store of stored) next = store(of, into, next);
    return next;
  };
}

function storerOf<T>(field: RecordField<T>): StoreValues<T> {
  switch (field.as) {
    case 'nested':
      return field.store;
    case 'ms':
      // Whole microseconds: a fraction is an object of its own on the heap, an integer is not.
      return storer(field.value, (ms) => Math.round(ms * 1000));
    case 'time':
      return storer(field.value, Math.trunc);
    case 'texts':
    case 'json':
      return storer(field.value, (value: object) => JSON.stringify(value));
    default: {
      const { value }: { readonly value: (of: T) => StoredValue } = field;
      return (of, into, at) => {
        into[at] = value(of);
        return at + 1;
      };
    }
  }
}

function storer<T, V>(valueOf: (of: T) => V | undefined, write: (value: V) => StoredValue): StoreValues<T> {
  return (of, into, at) => {
    const value = valueOf(of);
    into[at] = value === undefined ? undefined : write(value);
    return at + 1;
  };
}

/**
 * Adds the names to stored values. Absent values have none.
 *
 * @param notFinite replaces NaN and infinities, which JSON does not have; undefined leaves the field out
 */
export function valuesNamer<T>(
  fields: readonly RecordField<T>[],
  notFinite?: null,
): (from: ValueReader) => Record<string, unknown> {
  const named = fields.filter(({ record }) => record !== undefined);
  return (from) => {
    const object: Record<string, unknown> = {};
    for (const field of named) {
      const read = shown(field, from);
      const value = typeof read === 'number' && !Number.isFinite(read) ? notFinite : read;
      if (value !== undefined) object[field.record!] = value;
    }
    return object;
  };
}

function shown<T>(field: RecordField<T>, from: ValueReader): unknown {
  if (field.as === 'nested') return field.read(from);
  const value = from.next();
  if (value === undefined) return undefined;
  switch (field.as) {
    case 'ms':
      return (value as number) / 1000;
    case 'time':
      return Number.isFinite(value) ? new Date(value as number).toISOString() : undefined;
    case 'texts':
    case 'json':
      return JSON.parse(value as string);
    default:
      return value;
  }
}
