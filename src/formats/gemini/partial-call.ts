import type { JsonObject } from '../conversation.ts';
import { ReplyFault } from '../faults.ts';
import { isObject, setField, stringOf } from '../json/object.ts';
import { QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, DOT } from '../json/scan.ts';

/**
 * Arguments that arrive piece by piece (`streamFunctionCallArguments`, docs/protocols/gemini.md#streamed-arguments).
 * Each piece sets the value at a JSON path, or continues it with `willContinue`. Paths need not arrive in the order of
 * a JSON text, so the text is written when the call is complete.
 */
export class PartialArguments {
  readonly #root: Node = Object.create(null);
  /** Array elements that were skipped. */
  #holes = 0;
  /** Path of the string that the next piece continues. */
  #growing: string | undefined;
  /**
   * The last written parent, and its path. Most pieces have the parent of the piece before, or a node below it. An
   * upstream may send a path of hundreds of names with each piece, which are parsed and followed once.
   */
  #parentPath = '';
  #parent: Node | unknown[] = this.#root;
  #levels = 0;

  constructor(initial: unknown) {
    this.merge(initial);
  }

  /** Merges arguments that arrive whole beside those in pieces. */
  merge(args: unknown): void {
    if (!isObject(args)) return;
    for (const [name, value] of Object.entries(args)) this.#root[name] = value;
    this.#forgetParent();
  }

  add(piece: JsonObject): void {
    const path = stringOf(piece['jsonPath']) ?? '$';
    if (!this.#goesOnFromParent(path)) this.#forgetParent(path);
    const { keys, lastFrom } = parsePath(path, this.#parentPath.length);
    const last = keys.pop();
    if (last === undefined) return;
    this.#levels += keys.length;
    if (this.#levels > MAX_LEVELS)
      throw new ReplyFault(`the path ${path.slice(0, 256)} of a streamed argument has more than ${MAX_LEVELS} levels`);
    const parent = this.#below(this.#parent, keys, last, path);
    this.#parent = parent;
    this.#parentPath = path.slice(0, lastFrom);
    const value = valueOf(piece);
    const before = read(parent, last);
    const grows = this.#growing === path && typeof before === 'string' && typeof value === 'string';
    this.#write(parent, last, grows ? before + value : value);
    this.#growing = piece['willContinue'] === true ? path : undefined;
  }

  toJson(): string {
    return JSON.stringify(this.#root);
  }

  #goesOnFromParent(path: string): boolean {
    const next = path.charCodeAt(this.#parentPath.length);
    return path.startsWith(this.#parentPath) && (next === DOT || next === OPEN_ARRAY);
  }

  #forgetParent(path = ''): void {
    this.#parentPath = path.startsWith('$') ? '$' : '';
    this.#parent = this.#root;
    this.#levels = 0;
  }

  #write(node: Node | unknown[], key: Key, value: unknown): void {
    if (!Array.isArray(node)) return setField(node, String(key), value);
    if (typeof key === 'number') this.#holes += Math.max(0, key - node.length);
    if (typeof key !== 'number' || this.#holes > MAX_HOLES) {
      throw new ReplyFault('a streamed argument has an array index that cannot be used');
    }
    node[key] = value;
  }

  /** The node of the keys; `last` tells whether a new one is a list. */
  #below(from: Node | unknown[], keys: readonly Key[], last: Key, path: string): Node | unknown[] {
    let node = from;
    for (const [index, key] of keys.entries()) {
      const next: unknown = read(node, key);
      if (isNode(next)) node = next;
      else if (next !== undefined)
        throw new ReplyFault(`the path ${path.slice(0, 256)} of a streamed argument runs through a value`);
      else {
        const below = keys[index + 1] ?? last;
        const fresh: Node | unknown[] = typeof below === 'number' ? [] : Object.create(null);
        this.#write(node, key, fresh);
        node = fresh;
      }
    }
    return node;
  }
}

type Key = string | number;
/** An object created here or parsed whole. Its prototype is untouched: `__proto__` is an argument like any other. */
type Node = { [key: string]: unknown };

function isNode(value: unknown): value is Node | unknown[] {
  return typeof value === 'object' && value !== null;
}

function read(node: Node | unknown[], key: Key): unknown {
  if (Array.isArray(node)) return typeof key === 'number' ? node[key] : undefined;
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

/** Maximum number of skipped array elements, which come in order: a far index would make a huge array of holes. */
const MAX_HOLES = 1024;

function valueOf(piece: JsonObject): unknown {
  if ('stringValue' in piece) return piece['stringValue'];
  if ('numberValue' in piece) return piece['numberValue'];
  if ('boolValue' in piece) return piece['boolValue'];
  if ('nullValue' in piece) return null;
  // A string that starts empty: protobuf JSON omits default values.
  return '';
}

const SINGLE_QUOTE = 0x27;
const INDEX = /\[(\d+)\]/y;

/** Deeper arguments cannot be written as JSON: some thousand levels exhaust the stack (measured). */
const MAX_LEVELS = 1000;

/**
 * Parses `$.operations[0].action`, `$['a b'][2]` (RFC 9535, normalized and shorthand child segments), beginning at a
 * segment. Scanned by hand: a pattern takes ten times as long, and a path may have thousands of segments.
 */
function parsePath(path: string, from: number): { readonly keys: Key[]; readonly lastFrom: number } {
  const keys: Key[] = [];
  let lastFrom = from;
  for (let at = from; at < path.length;) {
    const code = path.charCodeAt(at);
    const end = code === DOT ? nameEnd(path, at + 1) : code === OPEN_ARRAY ? bracketEnd(path, at, keys) : at;
    if (end <= at + 1) throw new ReplyFault(`the path ${path.slice(0, 256)} of a streamed argument cannot be read`);
    if (code === DOT) keys.push(path.slice(at + 1, end));
    if (keys.length > MAX_LEVELS + 1) break;
    lastFrom = at;
    at = end;
  }
  return { keys, lastFrom };
}

/** Most names are short: a loop finds their end faster than a pattern. */
function nameEnd(path: string, from: number): number {
  let at = from;
  while (at < path.length && !endsName(path.charCodeAt(at))) at += 1;
  return at;
}

/** True for a character that ends a shorthand name. A `]` makes the path unreadable. */
const endsName = (code: number): boolean => code === DOT || code === OPEN_ARRAY || code === CLOSE_ARRAY;

/** Returns `from` when the bracket holds neither an index nor a quoted name. */
function bracketEnd(path: string, from: number, keys: Key[]): number {
  const quote = path.charCodeAt(from + 1);
  if (quote === SINGLE_QUOTE || quote === QUOTE) return quotedEnd(path, from, keys);
  INDEX.lastIndex = from;
  const match = INDEX.exec(path);
  if (!match) return from;
  keys.push(Number(match[1]));
  return INDEX.lastIndex;
}

/** Scans by hand: a pattern with escapes exhausts the stack on a name of sixteen million characters (measured). */
function quotedEnd(path: string, from: number, keys: Key[]): number {
  const quote = path.charCodeAt(from + 1);
  let at = from + 2;
  while (at < path.length && path.charCodeAt(at) !== quote) at += path.charCodeAt(at) === BACKSLASH ? 2 : 1;
  if (path.charCodeAt(at) !== quote || path.charCodeAt(at + 1) !== CLOSE_ARRAY) return from;
  keys.push(path.slice(from + 2, at).replace(/\\(.)/g, '$1'));
  return at + 2;
}
