import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { isObject } from '../json/object.ts';

/**
 * Typed readers of a caller's body. The schema has normally validated the body. The readers also check bodies that it
 * has not seen (scanned bodies, overrides). OpenAI's SDKs send `null` for "not set": it reads as absent.
 */

/** The place of `field` in the object at `path`. A body has tens of thousands of fields, a fault needs one place. */
function placeOf(path: ParamPath, field: string | undefined): ParamPath {
  return field === undefined ? path : BodyPlace.field(path, field);
}

function wrongType(path: ParamPath, expected: string): RequestFault {
  return new RequestFault('invalid_request', `\`${String(path)}\` must be ${expected}.`, path);
}

export function readString(value: unknown, path: ParamPath, field?: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongType(placeOf(path, field), 'a string');
  return value;
}

export function readNumber(value: unknown, path: ParamPath, field?: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw wrongType(placeOf(path, field), 'a number');
  return value;
}

export function readBoolean(value: unknown, path: ParamPath, field?: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrongType(placeOf(path, field), 'a boolean');
  return value;
}

export function readObject(value: unknown, path: ParamPath, field?: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw wrongType(placeOf(path, field), 'an object');
  return value;
}

export function readArray(value: unknown, path: ParamPath, field?: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrongType(placeOf(path, field), 'an array');
  return value;
}

export function readStrings(value: unknown, path: ParamPath): readonly string[] | undefined {
  return readArray(value, path)?.map((item, at) => {
    const place = BodyPlace.item(path, at);
    return required(readString(item, place), place);
  });
}

export function required<T>(value: T | undefined, path: ParamPath, field?: string): T {
  if (value !== undefined) return value;
  const place = placeOf(path, field);
  throw new RequestFault('missing_required_parameter', `\`${String(place)}\` is required.`, place);
}

export function invalidValue(path: ParamPath, message: string): RequestFault {
  return new RequestFault('invalid_value', message, path);
}

/** Some servers keep the connection alive with chunks that have no choice. Azure's filter results look the same. */
export function isKeepAlive(chunk: JsonObject): boolean {
  return (!Array.isArray(chunk.choices) || chunk.choices.length === 0) && !isObject(chunk.usage);
}
