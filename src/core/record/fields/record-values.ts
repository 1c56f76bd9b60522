import { readerOf, type RecordField } from './record-field.ts';

/**
 * Compiles the object that the admin listener shows. Texts may still have credentials.
 * @param notFinite replaces NaN and infinities, which JSON does not have; undefined leaves the field out
 */
export function valuesReader<T>(
  fields: readonly RecordField<T>[],
  notFinite?: null,
): (of: T) => Record<string, unknown> {
  const shown = fields.flatMap((field) =>
    field.record === undefined ? [] : [{ name: field.record, read: shownValue(field) }],
  );
  return (of) => {
    const values: Record<string, unknown> = {};
    for (const { name, read } of shown) {
      const found = read(of);
      const value = typeof found === 'number' && !Number.isFinite(found) ? notFinite : found;
      if (value !== undefined) values[name] = value;
    }
    return values;
  };
}

function shownValue<T>(field: RecordField<T>): (of: T) => unknown {
  switch (field.as) {
    case 'nested':
      return field.valueOf;
    case 'ms':
      return written(readerOf<T, number>(field.value), (ms) => Math.round(ms * 1000) / 1000);
    case 'time':
      return written(readerOf<T, number>(field.value), isoText);
    default:
      return readerOf<T, unknown>(field.value);
  }
}

const written =
  <T>(valueOf: (of: T) => number | undefined, write: (value: number) => unknown) =>
  (of: T): unknown => {
    const value = valueOf(of);
    return value === undefined ? undefined : write(value);
  };

const isoText = (ms: number): string | undefined => (Number.isFinite(ms) ? new Date(ms).toISOString() : undefined);
