import type { JsonObject } from '../conversation.ts';
import { isObject, setField } from '../json/object.ts';

/**
 * Fields of a candidate beside its content. They travel as one opaque event per choice, for clients that are not strict
 * (docs/protocols/replies.md#choice-notes) and for clients of this format.
 */
const FIELDS = ['groundingMetadata', 'urlContextMetadata', 'citationMetadata', 'safetyRatings'] as const;

/** Returns the metadata that are not empty: streams repeat `groundingMetadata: {}` on every chunk. */
export function metadataOf(candidate: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const field of FIELDS) {
    const value = candidate[field];
    const filled = Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
    if (filled) found[field] = value;
  }
  return found;
}

/** True for an opaque value that is candidate metadata and not a part of the conversation. */
export function isCandidateMetadata(value: JsonObject): boolean {
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => FIELDS.some((field) => field === name));
}

/**
 * Merges the metadata of a stream, which sends grounding over several chunks. A later value of a field replaces the
 * earlier one; an omitted field stays. A later list either repeats the earlier one with more items at the end, or
 * continues it: both become one list. Ratings are not an object, so the last ones hold.
 */
export class MetadataReader {
  readonly value: JsonObject = {};
  /** Objects and lists created here. They grow in place, because a copy per chunk would take quadratic time. */
  #own: Set<unknown> | undefined;
  /** JSON of the items of a list, written once for each item that is compared. */
  #texts: Map<unknown, string[]> | undefined;

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
    const list = this.#own?.has(before) ? before : [...before];
    if (list !== before) this.#adopt(before, list);
    for (const item of later) list.push(item);
    return list;
  }

  #adopt(before: readonly unknown[], list: readonly unknown[]): void {
    (this.#own ??= new Set()).add(list);
    const texts = (this.#texts ??= new Map<unknown, string[]>());
    texts.set(list, texts.get(before) ?? []);
    texts.delete(before);
  }

  #isRepeated(before: readonly unknown[], later: readonly unknown[]): boolean {
    const known = (this.#texts ??= new Map<unknown, string[]>());
    const texts = known.get(before) ?? [];
    const again =
      before.length <= later.length &&
      before.every((item, at) => (texts[at] ??= JSON.stringify(item)) === JSON.stringify(later[at]));
    known.delete(before);
    known.set(again ? later : before, texts);
    return again;
  }

  #ownObject(field: string, before: JsonObject): JsonObject {
    if (this.#own?.has(before)) return before;
    const copy = { ...before };
    (this.#own ??= new Set()).add(copy);
    this.value[field] = copy;
    return copy;
  }
}
