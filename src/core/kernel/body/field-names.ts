import { GatewayError } from '../../../plugin/errors.ts';
import type { RequestBody } from './request-body.ts';
import { isObject } from '../../../formats/json/object.ts';
import { shownText } from '../../../formats/json/shown.ts';

/** The named fields inside one object, or inside every item of a list. */
interface Node {
  /** Nodes by field name. A leaf has an empty node. */
  readonly fields: Map<string, Node>;
  /** Field names by their case folding. */
  readonly folded: Map<string, string>;
  /** The fields whose values have named fields themselves. */
  readonly nested: Map<string, Node>;
  /** Characters of the longest of them. Folding keeps the length, so a longer key is none of them. */
  longest: number;
}

const INDEX = /^(?:0|[1-9][0-9]*)$/;
/** In place of a key: every item of a list, or one that stands alone (docs/protocols/gemini.md#protobuf-json). */
const EVERY = '[]';

/** Fields that the gateway checks or sets: a JSON reader that ignores case would take other keys for them. */
export class FieldNames {
  readonly #root = newNode();

  /**
   * @param paths each a list of keys; a number in place of a key stands for an item of a list, `[]` for all items
   * @param spellingsOfKey every spelling of one key, its own among them
   */
  constructor(paths: Iterable<readonly string[]>, spellingsOfKey: (key: string) => readonly string[] = (key) => [key]) {
    for (const path of paths) {
      let nodes: Iterable<Node> = [this.#root];
      for (const key of path) nodes = addKey(nodes, spellingsOfKey(key));
    }
    findNested(this.#root, new Set());
  }

  get empty(): boolean {
    return this.#root.fields.size === 0;
  }

  /** Throws GatewayError `ambiguous_parameter` for a key that equals one of the names only after folding. Parses objects with names alone. */
  check(body: RequestBody): void {
    for (const key of body.keys()) {
      const inner = this.#root.nested.get(key);
      const found = inner && ambiguousIn(body.value(key), inner);
      if (found) refuse(inside(key, found));
      const own = ambiguousKey(key, this.#root);
      if (own) refuse(own);
    }
  }

  /** `check` for a body that is parsed. */
  checkParsed(body: Readonly<Record<string, unknown>>): void {
    const found = ambiguousIn(body, this.#root);
    if (found) refuse(found);
  }
}

/** The child nodes of a key. Its spellings share one node, or nodes would double with every key of a path. */
function addKey(nodes: Iterable<Node>, spelled: readonly string[]): ReadonlySet<Node> {
  const behind = new Set<Node>();
  for (const node of nodes) {
    const { fields, folded } = node;
    const known = spelled.find((name) => fields.has(name));
    const shared = known === undefined ? newNode() : fields.get(known)!;
    for (const name of spelled) {
      if (!folded.has(foldCase(name))) folded.set(foldCase(name), name);
      node.longest = Math.max(node.longest, name.length);
      const own = fields.get(name) ?? shared;
      fields.set(name, own);
      behind.add(own);
    }
  }
  return behind;
}

/** Nodes are shared, so each is visited once. */
function findNested(node: Node, seen: Set<Node>): void {
  if (seen.has(node)) return;
  seen.add(node);
  for (const [name, inner] of node.fields) {
    if (inner.fields.size > 0) node.nested.set(name, inner);
    findNested(inner, seen);
  }
}

const newNode = (): Node => ({ fields: new Map(), folded: new Map(), nested: new Map(), longest: 0 });

/** A key that folds to a name. The place is made on the way out: no other body needs one. */
interface Ambiguous {
  /** The object that has the key. */
  readonly place: string;
  readonly key: string;
  readonly meant: string;
}

function ambiguousIn(value: unknown, node: Node): Ambiguous | undefined {
  if (Array.isArray(value)) return ambiguousItem(value, node);
  if (!isObject(value)) return undefined;
  const alone = node.nested.get(EVERY);
  const inItem = alone && ambiguousIn(value, alone);
  if (inItem) return inItem;
  // A list of keys for each object of a conversation would be most of what this costs.
  for (const key in value) {
    const inner = node.nested.get(key);
    const found = inner && ambiguousIn(value[key], inner);
    if (found) return inside(key, found);
    const own = inner || node.fields.has(key) ? undefined : ambiguousKey(key, node);
    if (own) return own;
  }
  return undefined;
}

function ambiguousItem(list: readonly unknown[], { nested }: Node): Ambiguous | undefined {
  for (const [index, inner] of nested) {
    if (!INDEX.test(index) && index !== EVERY) continue;
    const from = index === EVERY ? 0 : Number(index);
    const to = index === EVERY ? list.length : from + 1;
    for (let at = from; at < to; at += 1) {
      const found = ambiguousIn(list[at], inner);
      if (found) return inside(`[${at}]`, found);
    }
  }
  return undefined;
}

/** A key of a megabyte takes 100 ms to fold (measured). */
function ambiguousKey(key: string, { fields, folded, longest }: Node): Ambiguous | undefined {
  if (key.length > longest || fields.has(key)) return undefined;
  const meant = folded.get(foldCase(key));
  return meant === undefined ? undefined : { place: '', key, meant };
}

const inside = (step: string, found: Ambiguous): Ambiguous => ({ ...found, place: joined(step, found.place) });

const joined = (step: string, rest: string): string =>
  rest === '' || rest.startsWith('[') ? step + rest : `${step}.${rest}`;

/** Characters of a name that an error shows. */
const SHOWN_KEY = 200;

function refuse(found: Ambiguous): never {
  const at = (name: string): string => shownText(found.place === '' ? name : `${found.place}.${name}`, SHOWN_KEY);
  const [key, meant] = [at(found.key), at(found.meant)];
  const message = `The key ${JSON.stringify(key)} differs from \`${meant}\` only in case; some upstreams would read it as \`${meant}\`. Write \`${meant}\`.`;
  throw new GatewayError('ambiguous_parameter', message, { param: key });
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * Unicode simple case folding (CaseFolding.txt, status C and S), by which Go's encoding/json compares keys. `ſ`
 * (U+017F) folds to `s` and the Kelvin sign (U+212A) to `k`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += UNLIKE_CASING.get(character) ?? foldCharacter(character);
  return folded;
}

/** Folding equals upper- then lower-casing where each yields one character; `ς` becomes `σ` by way of `Σ`. */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const cased = isOneCharacter(upper) ? upper : character;
  const lower = cased.toLowerCase();
  return isOneCharacter(lower) ? lower : cased;
}

const isOneCharacter = (text: string): boolean =>
  text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff);

/** Exceptions to casing: Turkish `ı` folds to itself, and three pairs have no common capital of one character. */
const UNLIKE_CASING: ReadonlyMap<string, string> = new Map([
  ['\u0131', '\u0131'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
]);
