import type { JsonObject } from '../conversation.ts';
import { MAX_NAME_LENGTH } from './losses.ts';

/** Spellings of one place, the best first. */
export type PlaceSpellings = readonly [string, ...string[]];

/**
 * Keys may contain dots and brackets, so that a place can be read in several ways. These bounds keep the search for the
 * places of one request cheap whatever its keys are. A place that needs more lookups is reported as the smallest
 * enclosing field that was found.
 */
const MAX_KEYS_TRIED = 64;
const MAX_LOOKUPS = 4096;

/** Finds places in the body of one request. */
export class PlaceFinder {
  readonly #body: JsonObject;
  readonly #room = { left: MAX_LOOKUPS };

  constructor(body: JsonObject) {
    this.#body = body;
  }

  /** The spelling that occurs in the body, or else the smallest enclosing field that exists. */
  nearest(spellings: PlaceSpellings): string {
    const [first] = spellings;
    let found = 0;
    for (const place of spellings) {
      const end = new PlaceSearch(place, this.#room).endIn(this.#body);
      if (end === place.length) return place;
      if (place === first) found = end;
    }
    if (first.length > MAX_NAME_LENGTH) return first;
    return first.slice(0, found > 0 ? found : firstStep(first));
  }
}

function firstStep(place: string): number {
  const end = place.slice(1).search(/[.[]/);
  return end < 0 ? place.length : end + 1;
}

const INDEX = /\[(\d+)\]\.?/y;

/** Looks keys up instead of comparing all of them: an object may have hundreds of thousands. */
class PlaceSearch {
  readonly #place: string;
  /** Remaining lookups of keys and items, for all searches of the request together. */
  readonly #room: { left: number };
  /** End of the longest part of the place that was found. */
  #found = 0;

  constructor(place: string, room: { left: number }) {
    this.#place = place;
    this.#room = room;
  }

  endIn(body: unknown): number {
    if (this.#place.length <= MAX_NAME_LENGTH) this.#visit(body, 0);
    return this.#found;
  }

  /** True when the search is over. */
  #visit(value: unknown, from: number): boolean {
    if (from >= this.#place.length) {
      this.#found = this.#place.length;
      return true;
    }
    if (Array.isArray(value)) return this.#visitItem(value, from);
    return typeof value === 'object' && value !== null && this.#visitMember(value as JsonObject, from);
  }

  #visitItem(list: readonly unknown[], from: number): boolean {
    if (!this.#takeLookup()) return true;
    INDEX.lastIndex = from;
    const match = INDEX.exec(this.#place);
    const at = Number(match?.[1]);
    if (!match || at >= list.length) return false;
    this.#note(from + `[${match[1]}]`.length);
    return this.#visit(list[at], from + match[0].length);
  }

  #visitMember(object: JsonObject, from: number): boolean {
    const place = this.#place;
    if (!this.#takeLookup()) return true;
    // Tries the whole rest as one key first: most lost fields are unknown top-level fields.
    if (Object.hasOwn(object, place.slice(from))) {
      this.#found = place.length;
      return true;
    }
    let tried = 0;
    for (let end = from; end < place.length && tried < MAX_KEYS_TRIED; end += 1) {
      if (!isStep(place, end)) continue;
      tried += 1;
      if (!this.#takeLookup()) return true;
      const key = place.slice(from, end);
      if (!Object.hasOwn(object, key)) continue;
      this.#note(end);
      if (this.#visit(object[key], place[end] === '.' ? end + 1 : end)) return true;
    }
    return false;
  }

  #takeLookup(): boolean {
    this.#room.left -= 1;
    return this.#room.left >= 0;
  }

  #note(end: number): void {
    if (end > this.#found && (end === this.#place.length || isStep(this.#place, end))) this.#found = end;
  }
}

const isStep = (place: string, at: number): boolean => place[at] === '.' || place[at] === '[';
