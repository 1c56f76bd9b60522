import { refuse } from './ask.ts';

/** Readers for a wire that refuses what it does not know, as the vendors' servers do. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function fields(value: unknown, at: string): Fields {
  return isFields(value) ? value : refuse(`${at} must be an object.`);
}

export function list(value: unknown, at: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(`${at} must be an array.`);
}

export function text(value: unknown, at: string): string {
  return typeof value === 'string' ? value : refuse(`${at} must be a string.`);
}

/** No key but these; none is null, since wires differ in what they make of null and a gateway has no cause to send it. */
export function only(value: unknown, at: string, allowed: readonly string[]): Fields {
  const object = fields(value, at);
  for (const [key, field] of Object.entries(object)) {
    if (!allowed.includes(key)) refuse(`Unknown name "${key}" at '${at}': Cannot find field.`);
    if (field === null) refuse(`${at}.${key} must not be null.`);
  }
  return object;
}

/** Exactly one of these keys. */
export function oneOf(object: Fields, at: string, keys: readonly string[]): string {
  const found = keys.filter((key) => key in object);
  const [key] = found;
  return key !== undefined && found.length === 1 ? key : refuse(`${at} must have exactly one of ${keys.join(', ')}.`);
}

/** Names of fields, as long lists of them read best. */
export const words = (names: string): readonly string[] => names.split(' ');
