import type { JsonObject } from '../conversation.ts';

/**
 * Reading protobuf JSON (wire.md C4): field names come in camelCase or snake_case, a repeated field may be written as one
 * bare value, 64-bit integers may be strings. Recorded clients do all three; replies are always camelCase.
 */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

export function objectsOf(value: unknown): JsonObject[] {
  return asList(value).filter(isObject);
}

export function stringsOf(value: unknown): string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

/** A field of a request by its camelCase name, whichever way the client spelled it. */
export function pick(source: JsonObject, name: string): unknown {
  const value = source[name] ?? source[snakeOf(name)];
  return value === null ? undefined : value;
}

/** Other spellings of the names that this code has: every part is looked into under ten of them. */
const SNAKE = new Map<string, string>();

function snakeOf(name: string): string {
  let snake = SNAKE.get(name);
  if (snake === undefined) SNAKE.set(name, (snake = toSnake(name)));
  return snake;
}

/** What is left of an object when the fields named (camelCase) are taken out, under canonical names; undefined when empty. */
export function leftover(source: JsonObject, taken: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const name of Object.keys(source)) {
    if (taken.has(name)) continue;
    const value = source[name];
    const canonical = toCamel(name);
    if (!taken.has(canonical) && value !== null && value !== undefined) (rest ??= {})[canonical] = value;
  }
  return rest;
}

export function toCamel(name: string): string {
  return name.includes('_') ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name;
}

export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An object without its undefined fields: nothing absent travels as `null`. */
export function compact(fields: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept;
}

/** Extra fields of an event or part type, present only when they have a value (exactOptionalPropertyTypes). */
export function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  const field: { [P in K]?: V } = {};
  if (value !== undefined) field[name] = value;
  return field;
}
