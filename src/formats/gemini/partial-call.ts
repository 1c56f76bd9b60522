import type { JsonObject } from '../conversation.ts';
import { ReplyFault } from '../format.ts';
import { asString, isObject } from './wire.ts';

/**
 * Arguments that arrive piece by piece (`streamFunctionCallArguments`, wire.md C6): each piece sets, or with `willContinue`
 * goes on with, the value at a JSON path. Paths need not come in the order of a JSON text, so the text is written when
 * the call is whole.
 */
export class PartialArguments {
  readonly #root: Node = Object.create(null);
  /** Path of the string that the next piece goes on with. */
  #growing: string | undefined;

  constructor(initial: unknown) {
    this.merge(initial);
  }

  /** Arguments that come whole, beside those in pieces. */
  merge(args: unknown): void {
    if (isObject(args)) for (const [name, value] of Object.entries(args)) this.#root[name] = value;
  }

  add(piece: JsonObject): void {
    const path = asString(piece['jsonPath']) ?? '$';
    const keys = parsePath(path);
    const last = keys.pop();
    if (last === undefined) return;
    const parent = this.#parentOf(keys, last, path);
    const value = valueOf(piece);
    const before = read(parent, last);
    const grows = this.#growing === path && typeof before === 'string' && typeof value === 'string';
    write(parent, last, grows ? before + value : value);
    this.#growing = piece['willContinue'] === true ? path : undefined;
  }

  toJson(): string {
    return JSON.stringify(this.#root);
  }

  #parentOf(keys: readonly Key[], last: Key, path: string): Node | unknown[] {
    let node: Node | unknown[] = this.#root;
    for (const [index, key] of keys.entries()) {
      const next: unknown = read(node, key);
      if (isNode(next)) node = next;
      else if (next !== undefined) throw new ReplyFault(`the path ${path} of a streamed argument runs through a value`);
      else {
        const below = keys[index + 1] ?? last;
        const fresh: Node | unknown[] = typeof below === 'number' ? [] : Object.create(null);
        write(node, key, fresh);
        node = fresh;
      }
    }
    return node;
  }
}

type Key = string | number;
/** Without a prototype, so that an argument named `__proto__` is one like any other. */
type Node = { [key: string]: unknown };

function isNode(value: unknown): value is Node | unknown[] {
  return typeof value === 'object' && value !== null;
}

function read(node: Node | unknown[], key: Key): unknown {
  if (Array.isArray(node)) return typeof key === 'number' ? node[key] : undefined;
  return node[key];
}

/** Elements come in order; a far index would make an array of holes as long as the upstream likes. */
const MAX_GAP = 64;

function write(node: Node | unknown[], key: Key, value: unknown): void {
  if (!Array.isArray(node)) node[key] = value;
  else if (typeof key !== 'number' || key > node.length + MAX_GAP) {
    throw new ReplyFault('a streamed argument has an array index that cannot be used');
  } else node[key] = value;
}

function valueOf(piece: JsonObject): unknown {
  if ('stringValue' in piece) return piece['stringValue'];
  if ('numberValue' in piece) return piece['numberValue'];
  if ('boolValue' in piece) return piece['boolValue'];
  if ('nullValue' in piece) return null;
  // A string that starts empty: protobuf JSON leaves default values out.
  return '';
}

/** `$.operations[0].action`, `$['a b'][2]` (RFC 9535, normalized and shorthand child segments). */
function parsePath(path: string): Key[] {
  const segment = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  segment.lastIndex = path.startsWith('$') ? 1 : 0;
  const keys: Key[] = [];
  while (segment.lastIndex < path.length) {
    const match = segment.exec(path);
    if (!match) throw new ReplyFault(`the path ${path} of a streamed argument cannot be read`);
    const [, name, index, single, double] = match;
    if (index !== undefined) keys.push(Number(index));
    else keys.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'));
  }
  return keys;
}
