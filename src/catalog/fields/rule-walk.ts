import { TEXT_KEYS } from '../../formats/fields/shared-credentials.ts';
import type { CompiledRules } from './field-rules.ts';
import { fieldOf, itemOf, type FieldNode } from './field-tree.ts';
import {
  QUOTE,
  COMMA,
  OPEN_OBJECT,
  CLOSE_OBJECT,
  OPEN_ARRAY,
  CLOSE_ARRAY,
  afterSpaceIn,
  afterStringIn,
  unquoted,
} from '../../formats/json/scan.ts';
import { shownPath } from '../../formats/json/shown.ts';

/** A place that the rules refuse. */
export interface FieldViolation {
  readonly param: string;
  /** Not the field itself: the bucket that its address names. */
  readonly bucket?: string;
}

/** Where the walk stands in the trees of the rules. */
interface WalkPlace {
  readonly denied: FieldNode | undefined;
  /** Undefined: everything inside passes. */
  readonly allowed: FieldNode | undefined;
  /** Undefined: no map of the caller's own keys is inside. */
  readonly free: FieldNode | undefined;
  /** Inside such a map. */
  readonly inFree: boolean;
  /** The key that the value, or the list around it, stands at. */
  readonly key: string;
}

/**
 * Finds the first field of a body that rules refuse. It reads the bytes and not the parsed body: of a key that stands twice in an
 * object JSON.parse shows the last, and an upstream may read the first.
 * @param bytes well-formed JSON
 */
export function findViolation(bytes: Buffer, rules: CompiledRules): FieldViolation | undefined {
  try {
    new RuleWalk(bytes, rules).run();
    return undefined;
  } catch (error) {
    if (error instanceof ViolationFound) return error.violation;
    throw error;
  }
}

class ViolationFound extends Error {
  readonly violation: FieldViolation;

  constructor(violation: FieldViolation) {
    super(violation.param);
    this.violation = violation;
  }
}

class RuleWalk {
  readonly #bytes: Buffer;
  readonly #rules: CompiledRules;
  /** Keys, and numbers of items. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(bytes: Buffer, rules: CompiledRules) {
    this.#bytes = bytes;
    this.#rules = rules;
  }

  run(): void {
    const { denied, allowed, freeMaps } = this.#rules;
    this.#space();
    this.#value({ denied, allowed, free: freeMaps, inFree: false, key: '' });
  }

  #value(place: WalkPlace): void {
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_OBJECT) this.#members(place);
    else if (byte === OPEN_ARRAY) this.#items(place);
    else {
      // A rule that lets single fields of an object pass says nothing of a text in its place.
      if (place.allowed && byte !== LETTER_N && !place.inFree) this.#refuse();
      if (byte === QUOTE) this.#text(place);
      else while (this.#at < this.#bytes.length && !ENDS_SCALAR.has(this.#bytes[this.#at]!)) this.#at += 1;
    }
  }

  #members(place: WalkPlace): void {
    this.#open();
    while (this.#bytes[this.#at] !== CLOSE_OBJECT) {
      const key = this.#string();
      this.#space();
      this.#at += 1;
      this.#space();
      this.#path.push(key);
      this.#value(this.#inside(place, key));
      this.#path.pop();
      this.#next();
    }
    this.#at += 1;
  }

  #items(place: WalkPlace): void {
    this.#open();
    const denied = itemOf(place.denied);
    const inside: WalkPlace = { ...place, denied, allowed: allowedItem(place.allowed), free: itemOf(place.free) };
    for (let index = 0; this.#bytes[this.#at] !== CLOSE_ARRAY; index += 1) {
      this.#path.push(index);
      if (denied !== place.denied && denied?.whole) this.#refuse();
      this.#value(inside);
      this.#path.pop();
      this.#next();
    }
    this.#at += 1;
  }

  /** Throws Found where the key itself is refused. null is a way of leaving a field out. */
  #inside({ denied, allowed, free, inFree }: WalkPlace, key: string): WalkPlace {
    const { deniedAnywhere, allowedAnywhere, exact, loose: looseOf } = this.#rules;
    const unset = this.#bytes[this.#at] === LETTER_N;
    const loose = looseOf(key);
    const deniedHere = fieldOf(denied, loose);
    if (!unset && (deniedHere?.whole || (!inFree && deniedAnywhere.has(loose)))) this.#refuse();
    let allowedHere: FieldNode | undefined;
    const name = exact(key);
    if (allowed && !allowedAnywhere.has(name)) {
      allowedHere = fieldOf(allowed, name);
      if (!allowedHere && !unset) this.#refuse();
      if (allowedHere?.whole) allowedHere = undefined;
    }
    const freeHere = fieldOf(free, name);
    return {
      denied: deniedHere,
      allowed: allowedHere,
      free: freeHere,
      inFree: inFree || freeHere?.whole === true,
      key,
    };
  }

  #text({ inFree, key }: WalkPlace): void {
    const from = this.#at;
    this.#skipString();
    const { buckets } = this.#rules;
    if (!buckets || inFree || TEXT_KEYS.has(key) || !MAY_BEGIN_ADDRESS.has(this.#bytes[from + 1]!)) return;
    const address = ADDRESS.exec(unquoted(this.#bytes.toString('utf8', from, this.#at)));
    if (!address) return;
    const [, bucket = '', object = ''] = address;
    if (!buckets.some((allowed) => isWithin(`${bucket}/${object}`, allowed)))
      throw new ViolationFound({ param: this.#param(), bucket });
  }

  #refuse(): never {
    throw new ViolationFound({ param: this.#param() });
  }

  #param(): string {
    return shownPath(this.#path, SHOWN_PARAM);
  }

  #open(): void {
    this.#at += 1;
    this.#space();
  }

  /** Behind a value: past the comma, or at the closing bracket. */
  #next(): void {
    this.#space();
    if (this.#bytes[this.#at] !== COMMA) return;
    this.#at += 1;
    this.#space();
  }

  #string(): string {
    const from = this.#at;
    this.#skipString();
    return unquoted(this.#bytes.toString('utf8', from, this.#at));
  }

  #skipString(): void {
    this.#at = afterStringIn(this.#bytes, this.#at);
  }

  #space(): void {
    this.#at = afterSpaceIn(this.#bytes, this.#at);
  }
}

/** What passes of a list's items: where `tools[]` is named as a whole, all of them. */
function allowedItem(allowed: FieldNode | undefined): FieldNode | undefined {
  const item = itemOf(allowed);
  return item !== allowed && item?.whole ? undefined : item;
}

/** `bucket`, or `bucket/prefix` up to a slash or the end. */
const isWithin = (path: string, allowed: string): boolean =>
  path.startsWith(allowed.endsWith('/') ? allowed : `${allowed}/`) || path === allowed;

const ADDRESS = /^\s*gs:(?:\/\/)?([^/]*)\/?(.*)$/is;
const SHOWN_PARAM = 300;

/** Of `null`. */
const LETTER_N = 0x6e;

const bytesOf = (text: string): ReadonlySet<number> => new Set(Buffer.from(text));
const ENDS_SCALAR = bytesOf(' \t\n\r,]}');
/** `gs:` in any case, perhaps behind a space or written with escapes; a byte beyond ASCII may begin a space, too. */
const MAY_BEGIN_ADDRESS: ReadonlySet<number> = new Set([
  ...bytesOf('gG\\ '),
  ...Array.from({ length: 128 }, (_, index) => 128 + index),
]);
