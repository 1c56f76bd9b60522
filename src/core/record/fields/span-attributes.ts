import type { Attributes } from '@opentelemetry/api';
import { readerOf, type RecordField } from './record-field.ts';

/** Compiles the attributes that a span has of a record. */
export function attributesReader<T>(fields: readonly RecordField<T>[]): (of: T) => Attributes {
  const shown = fields.flatMap((field): { name: string; valueOf: (of: T) => Attributes[string] }[] =>
    field.span === undefined ? [] : [{ name: field.span, valueOf: readerOf<T, Attributes[string]>(field.value) }],
  );
  return (of) => {
    const attributes: Attributes = {};
    for (const { name, valueOf } of shown) {
      const value = valueOf(of);
      if (value !== undefined) attributes[name] = value;
    }
    return attributes;
  };
}
