import type { JsonObject } from '../conversation.ts';
import { isObject, setField } from '../json/object.ts';

/**
 * What a candidate says about itself beside its content. Travels as one opaque event per choice, for clients that are not strict
 * (docs/protocols/replies.md#choice-notes) and for clients of this format.
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
export class MetadataReader {
  readonly value: JsonObject = {};
  /** Objects and lists that were made here: they grow in place, since a copy with each chunk would cost the square of a stream. */
  readonly #own = new Set<unknown>();
  /** What the items of a list are as JSON, made once for each that is compared. */
  readonly #texts = new Map<unknown, string[]>();

  read(candidate: JsonObject): void {
    const found = metadataOf(candidate);
    for (const field of Object.keys(found)) {
      const [before, later] = [this.value[field], found[field]];
      if (isObject(before) && isObject(later)) this.#merge(this.#ownObject(field, before), later);
      else this.value[field] = later;
    }
  }

  #merge(into: JsonObject, later: JsonObject): void {
    for (const name of Object.keys(later)) {
      const [known, value] = [into[name], later[name]];
      setField(into, name, Array.isArray(known) && Array.isArray(value) ? this.#joined(known, value) : value);
    }
  }

  #joined(before: unknown[], later: readonly unknown[]): readonly unknown[] {
    if (this.#isRepeated(before, later)) return later;
    const list = this.#own.has(before) ? before : [...before];
    if (list !== before) this.#adopt(before, list);
    for (const item of later) list.push(item);
    return list;
  }

  #adopt(before: readonly unknown[], list: readonly unknown[]): void {
    this.#own.add(list);
    this.#texts.set(list, this.#texts.get(before) ?? []);
    this.#texts.delete(before);
  }

  #isRepeated(before: readonly unknown[], later: readonly unknown[]): boolean {
    const texts = this.#texts.get(before) ?? [];
    const again =
      before.length <= later.length &&
      before.every((item, at) => (texts[at] ??= JSON.stringify(item)) === JSON.stringify(later[at]));
    this.#texts.delete(before);
    this.#texts.set(again ? later : before, texts);
    return again;
  }

  #ownObject(field: string, before: JsonObject): JsonObject {
    if (this.#own.has(before)) return before;
    const copy = { ...before };
    this.#own.add(copy);
    this.value[field] = copy;
    return copy;
  }
}
