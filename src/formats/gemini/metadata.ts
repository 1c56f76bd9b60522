import type { JsonObject } from '../conversation.ts';
import { isObject } from './wire.ts';

/**
 * What a candidate says about itself beside its content. Travels as one opaque event per choice, for clients that are not
 * strict (wire.md D9) and for clients of this format.
 */
const FIELDS = ['groundingMetadata', 'urlContextMetadata', 'citationMetadata', 'safetyRatings'] as const;

/** The metadata of a candidate that hold something: streams repeat `groundingMetadata: {}` on every chunk. */
export function metadataOf(candidate: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const field of FIELDS) {
    const value = candidate[field];
    const filled = Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
    if (filled) found[field] = value;
  }
  return found;
}

/** True for the value of an opaque part that is such metadata and not a part of the conversation. */
export function isCandidateMetadata(value: JsonObject): boolean {
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => FIELDS.some((field) => field === name));
}

/**
 * Streams tell grounding over several chunks: what a later one says of a field wins, a field it leaves out stays. Its lists are
 * told again with more at the end, or go on where the last one stopped; both end as one list. Ratings, which are no such
 * object, are the last verdict.
 */
export function mergeMetadata(into: JsonObject, found: JsonObject): void {
  for (const [field, value] of Object.entries(found)) {
    const before = into[field];
    into[field] = isObject(before) && isObject(value) ? mergeFields(before, value) : value;
  }
}

function mergeFields(before: JsonObject, later: JsonObject): JsonObject {
  const merged = { ...before };
  for (const [name, value] of Object.entries(later)) {
    const known = before[name];
    merged[name] = Array.isArray(known) && Array.isArray(value) ? mergeLists(known, value) : value;
  }
  return merged;
}

function mergeLists(before: readonly unknown[], later: readonly unknown[]): readonly unknown[] {
  const toldAgain = before.every((item, at) => JSON.stringify(item) === JSON.stringify(later[at]));
  return toldAgain ? later : [...before, ...later];
}
