import { ReplyFault } from '../faults.ts';
import { afterValue } from '../json/members.ts';
import {
  afterSpace,
  afterString,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  unquoted,
} from '../json/scan.ts';

/** Numbers of a place. choice: the answer. block: the item or call in it. part: the part of the item. */
type PlaceNumber = 'choice' | 'block' | 'part';

/**
 * Where the texts of a JSON document are, one node for each object, list and value. All that no node describes is skipped.
 */
export interface TextNode {
  readonly members?: ReadonlyMap<string, TextNode>;
  readonly items?: TextNode;
  /** The value has a place of its own; as an item of a list, its position is this number. */
  readonly counts?: PlaceNumber | 'none';
  /** The value is a fact about its place. */
  readonly sets?: PlaceNumber | 'type' | 'thought';
  /** A text, by the name that tells texts of one place apart. */
  readonly leaf?: string;
  /** An object is a text too: its JSON. */
  readonly json?: true;
  /** The text is one in an envelope (envelope.ts), in this coding; any other value is none. */
  readonly sealed?: 'plain' | 'base64';
  /** Repeats or describes a text. JSON that takes its place where the text was changed; `event`: the whole event goes. */
  readonly follows?: string;
}

export const members = (entries: Readonly<Record<string, TextNode>>): ReadonlyMap<string, TextNode> =>
  new Map(Object.entries(entries));

/** A text by its name. */
export const text = (leaf: string): TextNode => ({ leaf });

/** A place in a document. Facts that it lacks are those of the place around it, which may come behind it in the text. */
export class Place {
  readonly #up: Place | undefined;
  type = '';
  thought = false;
  #choice: number | undefined;
  #block: number | undefined;
  #part: number | undefined;

  constructor(up?: Place) {
    this.#up = up;
  }

  get choice(): number {
    return this.#choice ?? this.#up?.choice ?? 0;
  }

  get block(): number {
    return this.#block ?? this.#up?.block ?? 0;
  }

  get part(): number {
    return this.#part ?? this.#up?.part ?? 0;
  }

  count(name: PlaceNumber, value: number): void {
    if (name === 'choice') this.#choice = value;
    else if (name === 'block') this.#block = value;
    else this.#part = value;
  }
}

/** A value that a node describes; `from` to `to` are its JSON. */
export interface Found {
  readonly node: TextNode;
  readonly place: Place;
  readonly from: number;
  readonly to: number;
}

const broken = (): ReplyFault => new ReplyFault('an event is not valid JSON, so that its texts cannot be read');

/** Finds the texts of documents with one layout, each in one pass. */
export class TextFinder {
  readonly #root: TextNode;
  #view = '';
  /** The texts of the last document, in its order. */
  found: Found[] = [];

  constructor(root: TextNode) {
    this.#root = root;
  }

  /**
   * Returns the place of the whole document.
   * @param view one character for each byte. Throws ReplyFault for what is no JSON object
   */
  find(view: string, from: number): Place {
    const place = new Place();
    if (view.charCodeAt(from) !== OPEN_OBJECT) throw broken();
    this.#view = view;
    this.found = [];
    this.#value(from, this.#root, place);
    return place;
  }

  /** Returns the index after the value. */
  #value(from: number, node: TextNode, place: Place): number {
    const view = this.#view;
    const code = view.charCodeAt(from);
    if (code === OPEN_OBJECT && node.members) return this.#members(from, node.members, place);
    if (code === OPEN_ARRAY && node.items) return this.#items(from, node.items, place);
    const to = code === QUOTE ? afterString(view, from) : afterValue(view, from);
    if (to <= from) throw broken();
    if (node.sets !== undefined) set(place, node.sets, view.slice(from, to));
    else if (code === QUOTE ? node.leaf !== undefined : node.json && code === OPEN_OBJECT)
      this.found.push({ node, place, from, to });
    else if (node.follows !== undefined && !view.startsWith('null', from)) this.found.push({ node, place, from, to });
    return to;
  }

  #members(from: number, nodes: ReadonlyMap<string, TextNode>, place: Place): number {
    const view = this.#view;
    let at = afterSpace(view, from + 1);
    if (view.charCodeAt(at) === CLOSE_OBJECT) return at + 1;
    for (;;) {
      if (view.charCodeAt(at) !== QUOTE) throw broken();
      const keyEnd = afterString(view, at);
      const colon = afterSpace(view, keyEnd);
      if (view.charCodeAt(colon) !== COLON) throw broken();
      const child = nodes.get(keyOf(view, at, keyEnd));
      const value = afterSpace(view, colon + 1);
      const end = child ? this.#value(value, child, placeOf(child, place)) : afterValue(view, value);
      if (end <= value) throw broken();
      at = afterSpace(view, end);
      const code = view.charCodeAt(at);
      if (code === CLOSE_OBJECT) return at + 1;
      if (code !== COMMA) throw broken();
      at = afterSpace(view, at + 1);
    }
  }

  #items(from: number, node: TextNode, place: Place): number {
    const view = this.#view;
    let at = afterSpace(view, from + 1);
    if (view.charCodeAt(at) === CLOSE_ARRAY) return at + 1;
    for (let index = 0; ; index += 1) {
      const end = this.#value(at, node, placeOf(node, place, index));
      at = afterSpace(view, end);
      const code = view.charCodeAt(at);
      if (code === CLOSE_ARRAY) return at + 1;
      if (code !== COMMA) throw broken();
      at = afterSpace(view, at + 1);
    }
  }
}

/** A client reads an escaped name as the name. */
function keyOf(view: string, from: number, to: number): string {
  const key = view.slice(from + 1, to - 1);
  if (!key.includes('\\')) return key;
  try {
    return unquoted(view.slice(from, to));
  } catch {
    throw broken();
  }
}

function placeOf({ counts }: TextNode, around: Place, index?: number): Place {
  if (counts === undefined) return around;
  const place = new Place(around);
  if (counts !== 'none' && index !== undefined) place.count(counts, index);
  return place;
}

function set(place: Place, name: NonNullable<TextNode['sets']>, json: string): void {
  if (name === 'type') place.type = json.slice(1, -1);
  else if (name === 'thought') place.thought = json === 'true';
  else if (/^\d{1,9}$/.test(json)) place.count(name, Number(json));
}
