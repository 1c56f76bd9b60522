import { bareName } from '../../kernel/index.ts';
import { TEXT_KEYS } from '../../../formats/fields/shared-credentials.ts';
import { namesGoogleFile, namesVendorObject, type VendorObject } from '../../../formats/fields/vendor-objects.ts';
import type { CompiledRules } from './field-rules.ts';
import { fieldOf, itemOf, type FieldNode } from './field-path.ts';
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
} from '../../../formats/json/scan.ts';
import { shownPath } from '../../../formats/json/shown.ts';

export interface FieldViolation {
  readonly param: string;
  /** Set where the rules refuse the bucket in the field's `gs://` address rather than the field. */
  readonly bucket?: string;
  /** Set where the rules refuse the object at the vendor that the field names. */
  readonly object?: Pick<VendorObject, 'kind'>;
}

interface RulePlace {
  readonly denied: FieldNode | undefined;
  /** Undefined: everything inside passes. */
  readonly allowed: FieldNode | undefined;
  /** Undefined: no placed field inside names an object of the vendor. */
  readonly objects: FieldNode | undefined;
  /** The row of the objects that a text here, or an item of the list here, names. */
  readonly object: VendorObject | undefined;
  /** Undefined: there is no object with the caller's own keys inside. */
  readonly free: FieldNode | undefined;
  readonly inFree: boolean;
  /** The key of the value, or of the list around it. */
  readonly key: string;
}

/**
 * Finds the first field of a body that the rules refuse, in its bytes: of a duplicate key JSON.parse keeps the last
 * value, but an upstream may use the first. @param issued an id that the gateway has given to the caller
 */
export function findViolation(bytes: Buffer, rules: CompiledRules, issued?: string): FieldViolation | undefined {
  try {
    new RuleChecker(bytes, rules, issued).run();
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

class RuleChecker {
  readonly #bytes: Buffer;
  readonly #rules: CompiledRules;
  readonly #issued: string | undefined;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(bytes: Buffer, rules: CompiledRules, issued: string | undefined) {
    this.#bytes = bytes;
    this.#rules = rules;
    this.#issued = issued;
  }

  run(): void {
    const { denied, allowed, freeMaps, objects } = this.#rules;
    this.#space();
    this.#value({
      denied,
      allowed,
      objects: objects?.tree,
      object: undefined,
      free: freeMaps,
      inFree: false,
      key: '',
    });
  }

  #value(place: RulePlace): void {
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_OBJECT) this.#members(place);
    else if (byte === OPEN_ARRAY) this.#items(place);
    else {
      // A rule that allows single fields of an object does not allow a scalar in place of the object.
      if (place.allowed && byte !== LETTER_N && !place.inFree) this.#refuse();
      if (byte === QUOTE) this.#text(place);
      else while (this.#at < this.#bytes.length && !ENDS_SCALAR.has(this.#bytes[this.#at]!)) this.#at += 1;
    }
  }

  #members(place: RulePlace): void {
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

  #items(place: RulePlace): void {
    this.#open();
    const denied = itemOf(place.denied);
    const inside: RulePlace = {
      ...place,
      denied,
      allowed: allowedItem(place.allowed),
      objects: itemOf(place.objects),
      free: itemOf(place.free),
    };
    for (let index = 0; this.#bytes[this.#at] !== CLOSE_ARRAY; index += 1) {
      this.#path.push(index);
      if (denied !== place.denied && denied?.whole) this.#refuse();
      this.#value(inside);
      this.#path.pop();
      this.#next();
    }
    this.#at += 1;
  }

  /** Throws ViolationFound where the key itself is refused. A null counts as an omitted field. */
  #inside({ denied, allowed, objects, free, inFree }: RulePlace, key: string): RulePlace {
    const { deniedAnywhere, allowedAnywhere, exact, loose: looseOf } = this.#rules;
    const unset = this.#bytes[this.#at] === LETTER_N;
    // In forms, brackets behind a name are a list of it, or a field inside.
    const bare = bareName(key);
    const loose = looseOf(bare);
    const deniedHere = fieldOf(denied, loose);
    const isInside = bare !== key && deniedHere !== undefined;
    if (!unset && (deniedHere?.whole || isInside || (!inFree && deniedAnywhere.has(loose)))) this.#refuse();
    let allowedHere: FieldNode | undefined;
    const name = exact(bare);
    if (allowed && !allowedAnywhere.has(name)) {
      allowedHere = fieldOf(allowed, name);
      if (!allowedHere && !unset) this.#refuse();
      if (allowedHere?.whole) allowedHere = undefined;
    }
    const freeHere = fieldOf(free, name);
    const objectsHere = fieldOf(objects, loose);
    const object = inFree || unset ? undefined : this.#objectAt(loose, objectsHere);
    return {
      denied: deniedHere,
      allowed: allowedHere,
      objects: objectsHere,
      object,
      free: freeHere,
      inFree: inFree || freeHere?.whole === true,
      key,
    };
  }

  /** The row of a field. Throws ViolationFound where the field is refused with any value. */
  #objectAt(loose: string, place: FieldNode | undefined): VendorObject | undefined {
    const { objects } = this.#rules;
    const object = objects?.anywhere.get(loose) ?? (place && objects?.placed.get(place));
    if (object?.whole) throw new ViolationFound({ param: this.#param(), object });
    return object;
  }

  #text({ inFree, key, object }: RulePlace): void {
    const from = this.#at;
    this.#skipString();
    const { buckets, objects } = this.#rules;
    const textOf = () => unquoted(this.#bytes.toString('utf8', from, this.#at));
    if (object) {
      const text = textOf();
      if (text !== this.#issued && namesVendorObject(object, text))
        throw new ViolationFound({ param: this.#param(), object });
    }
    if (!buckets || inFree || TEXT_KEYS.has(key)) return;
    const first = this.#bytes[from + 1]!;
    const isGoogles = objects?.kinds.has('files') === true && MAY_BEGIN_URL.has(first);
    if (!isGoogles && !MAY_BEGIN_ADDRESS.has(first)) return;
    const text = textOf();
    if (isGoogles && namesGoogleFile(text)) throw new ViolationFound({ param: this.#param(), object: FILES });
    const address = ADDRESS.exec(text);
    if (!address) return;
    const [, bucket = '', path = ''] = address;
    if (!buckets.some((allowed) => isWithin(`${bucket}/${path}`, allowed)))
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

  /** Moves from the end of a value past the comma, or to the closing bracket. */
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

/** The allowed fields of a list's items: undefined, all of them, where a rule names `tools[]` as a whole. */
function allowedItem(allowed: FieldNode | undefined): FieldNode | undefined {
  const item = itemOf(allowed);
  return item !== allowed && item?.whole ? undefined : item;
}

/** `bucket`, or `bucket/prefix` up to a slash or the end. */
const isWithin = (path: string, allowed: string): boolean =>
  path.startsWith(allowed.endsWith('/') ? allowed : `${allowed}/`) || path === allowed;

const ADDRESS = /^\s*gs:(?:\/\/)?([^/]*)\/?(.*)$/is;
const SHOWN_PARAM = 300;

/** The first letter of `null`. */
const LETTER_N = 0x6e;

const bytesOf = (text: string): ReadonlySet<number> => new Set(Buffer.from(text));
const ENDS_SCALAR = bytesOf(' \t\n\r,]}');
/** First bytes of an address: `gs:` in any case, a space, an escape, or a byte beyond ASCII, which may begin a Unicode space. */
const MAY_BEGIN_ADDRESS: ReadonlySet<number> = new Set([
  ...bytesOf('gG\\ '),
  ...Array.from({ length: 128 }, (_, index) => 128 + index),
]);
const MAY_BEGIN_URL: ReadonlySet<number> = new Set([...bytesOf('hH'), ...MAY_BEGIN_ADDRESS]);

const FILES = { kind: 'files' } as const;
