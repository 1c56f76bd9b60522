import type { JsonObject } from '../conversation.ts';
import { isObject } from './object.ts';

/** The objects with every text inside them, keys apart, replaced. */
export const mapTexts = (objects: readonly JsonObject[], replace: (text: string) => string): readonly JsonObject[] =>
  objects.map((object) => mapObject(object, replace));

const mapObject = (object: JsonObject, replace: (text: string) => string): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, mapValue(value, replace)]));

function mapValue(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapValue(item, replace));
  return isObject(value) ? mapObject(value, replace) : value;
}
