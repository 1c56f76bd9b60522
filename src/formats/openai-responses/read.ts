import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { isObject, stringOf } from '../json/object.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';

export function invalid(path: ParamPath, expectation: string): RequestFault {
  return new RequestFault('invalid_value', `\`${String(path)}\` ${expectation}.`, path);
}

export function objectAt(value: unknown, path: ParamPath): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  return value;
}

/** A list; null and absence mean an empty one. */
export function listAt(value: unknown, path: ParamPath): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(path, 'must be a list');
  return value;
}

export function textAt(object: JsonObject, path: ParamPath, field: string): string {
  const text = stringOf(object[field]);
  if (text !== undefined) return text;
  const place = BodyPlace.field(path, field);
  const missing = object[field] === undefined || object[field] === null;
  if (!missing) throw invalid(place, 'must be a string');
  throw new RequestFault('missing_required_parameter', `\`${String(place)}\` is required.`, place);
}
