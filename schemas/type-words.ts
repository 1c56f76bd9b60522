import { type Schema } from '../src/core/settings/schema/schema-files.ts';
import { isObject } from '../src/core/kernel/index.ts';
import { resolved } from './places.ts';

/** A short name for the type of a value. */
export function typeOf(schema: Schema): string {
  const { title, enum: values, const: only, type, anyOf, oneOf } = schema;
  if (title === 'Duration' || title === 'Seconds') return 'time';
  if (title === 'Bytes') return 'size';
  if (only !== undefined) return quote(only);
  if (Array.isArray(values)) return values.map(quote).join(', ');
  if (schema['x-secret'] === true) return 'secret';
  if (type === undefined) {
    const branches = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isObject);
    if (branches.length === 0) return 'anything';
    return [...new Set(branches.map((branch) => typeOf(resolved(branch))))].join(' or ');
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.map((one) => wordOf(one, schema)).join(' or ');
}

const quote = (value: unknown): string => `\`${String(value)}\``;

function wordOf(type: unknown, schema: Schema): string {
  const { items, minimum, maximum, format, properties, additionalProperties: others } = schema;
  switch (type) {
    case 'array':
      return isObject(items) ? `list of ${plural(typeOf(resolved(items)))}` : 'list';
    case 'object':
      return properties === undefined && isObject(others) ? `object of ${plural(typeOf(resolved(others)))}` : 'object';
    case 'string':
      return format === 'date-time' ? 'date and time' : 'text';
    default:
      return typeof minimum === 'number' && typeof maximum === 'number'
        ? `${String(type)}, ${minimum} to ${maximum}`
        : String(type);
  }
}

const plural = (words: string): string => words.replace(/^(object|list|integer|number|time|size|secret)(?!s)/, '$1s');
