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

/** Fields that the gateway checks or sets: a JSON reader that ignores case would take other keys for them. */
export class FieldNames {
  readonly #root = newNode();

  /**
   * @param paths each a list of keys; a number in place of a key stands for an item of a list
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

  /** Throws GatewayError `ambiguous_parameter` for a key that equals one of the names only after folding. */
  check(body: RequestBody): void {
    const keys = body.keys();
    checkKeys(keys, this.#root, '');
    for (const key of keys) {
      const node = this.#root.nested.get(key);
      if (node) checkValue(body.value(key), node, key);
    }
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

/** A key of a megabyte takes 100 ms to fold (measured). */
function checkKeys(keys: Iterable<string>, { fields, folded, longest }: Node, path: string): void {
  for (const key of keys) {
    if (key.length > longest || fields.has(key)) continue;
    const meant = folded.get(foldCase(key));
    if (meant !== undefined) throw ambiguous(path, key, meant);
  }
}

function checkValue(value: unknown, node: Node, path: string): void {
  if (Array.isArray(value)) {
    for (const [index, inner] of node.nested) {
      if (INDEX.test(index)) checkValue(value[Number(index)], inner, `${path}[${index}]`);
    }
  } else if (isObject(value)) {
    checkKeys(Object.keys(value), node, path);
    for (const [key, inner] of node.nested) {
      if (Object.hasOwn(value, key)) checkValue(value[key], inner, `${path}.${key}`);
    }
  }
}

/** Characters of a name that an error shows. */
const SHOWN_KEY = 200;

function ambiguous(path: string, key: string, meant: string): GatewayError {
  const at = (name: string): string => shownText(path === '' ? name : `${path}.${name}`, SHOWN_KEY);
  const message = `The key ${JSON.stringify(at(key))} differs from \`${at(meant)}\` only in case; some upstreams would read it as \`${at(meant)}\`. Write \`${at(meant)}\`.`;
  return new GatewayError('ambiguous_parameter', message, { param: at(key) });
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
