import type { JsonObject } from '../conversation.ts';
import { toCamel, toSnake } from '../json/field-names.ts';
import { isObject } from '../json/object.ts';

/**
 * Readers of protobuf JSON (docs/protocols/gemini.md#protobuf-json): field names come in camelCase or snake_case, a
 * repeated field may be one bare value, 64-bit integers may be strings. Replies are always camelCase.
 */

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

/** Returns a field of a request by its camelCase name, in either spelling. */
export function pick(source: JsonObject, name: string): unknown {
  const value = source[name] ?? source[snakeOf(name)];
  return value === null ? undefined : value;
}

/** Cache of snake_case names: every part is searched for ten of them. */
const SNAKE = new Map<string, string>();

function snakeOf(name: string): string {
  let snake = SNAKE.get(name);
  if (snake === undefined) SNAKE.set(name, (snake = toSnake(name)));
  return snake;
}

/** Names in both spellings, for `hasOthers`. */
export function bothSpellings(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, toSnake(name)]));
}

/** True when an object has fields other than `taken`, which has both spellings: no names are converted. */
export function hasOthers(source: JsonObject, taken: ReadonlySet<string>): boolean {
  for (const name of Object.keys(source)) {
    if (!taken.has(name) && source[name] !== null && source[name] !== undefined) return true;
  }
  return false;
}

/** Fields of an object that are not `taken` (camelCase), under canonical names. Undefined when there are none. */
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

/** Extra fields of an event or part type, present only when they have a value (exactOptionalPropertyTypes). */
export function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  const field: { [P in K]?: V } = {};
  if (value !== undefined) field[name] = value;
  return field;
}
