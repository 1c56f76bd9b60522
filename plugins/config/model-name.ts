import { WrappedSource, type Reply, type Source } from '../../src/plugin/index.ts';
import type { Operation } from '../../src/core/kernel/index.ts';

type FormatName = Operation['format']['name'];

/** The places of the model's name in an API: in a document, and in an event of a stream. */
interface ModelPlaces {
  readonly document: string;
  readonly event: readonly string[];
}

const PLACES: Readonly<Record<FormatName, ModelPlaces>> = {
  'anthropic-messages': { document: 'model', event: ['message', 'model'] },
  gemini: { document: 'modelVersion', event: ['modelVersion'] },
  'openai-chat': { document: 'model', event: ['model'] },
  'openai-responses': { document: 'model', event: ['response', 'model'] },
};

const OPEN_OBJECT = 0x7b;
const EVENTS = 'text/event-stream';

/** The body with another name of its model. Only the name is replaced: all other bytes stay. */
export function withModelName(
  { body, headers }: Pick<Reply, 'body' | 'headers'>,
  { format, name }: { readonly format: FormatName; readonly name: string },
): Buffer | Source {
  const type = headers['content-type']?.toLowerCase() ?? '';
  const sse = type.startsWith(EVENTS);
  const { document, event } = PLACES[format];
  const isDocument = !sse && Buffer.isBuffer(body) && beginsObject(body);
  if (!isDocument && !sse && !type.startsWith('application/json')) return body;
  const names = new EventNames(isDocument ? [document] : event, name, sse);
  if (!Buffer.isBuffer(body)) return new NamedStream(body, names);
  // A cached stream is a whole body too.
  return names.write(body);
}

/** Servers that wait for a model may send white space before the document. */
function beginsObject(body: Buffer): boolean {
  let at = 0;
  while (SPACES.has(body[at] ?? 0)) at += 1;
  return body[at] === OPEN_OBJECT;
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Where the JSON of an event may begin: behind `data:`, or in an array of events at any object. */
const EVENT = /(?:^|[\r\n])data:[ \t]*(?=\{)/g;
const ITEM = /(?=\{)/g;

class EventNames {
  readonly #place: readonly string[];
  readonly #searched: string;
  readonly #name: string;
  readonly #start: RegExp;

  constructor(place: readonly string[], name: string, sse: boolean) {
    this.#place = place;
    this.#searched = `"${place.at(-1)}"`;
    this.#name = Buffer.from(JSON.stringify(name)).toString('latin1');
    this.#start = sse ? EVENT : ITEM;
  }

  /** @param bytes whole events. Latin-1 keeps one character per byte. */
  write(bytes: Buffer): Buffer {
    if (!bytes.includes(this.#searched)) return bytes;
    const text = bytes.toString('latin1');
    let named = '';
    let written = 0;
    for (let at = this.#next(text, 0); at >= 0;) {
      const { values, end } = stringsAt(text, at, this.#place);
      for (const { from, to } of values) {
        named += text.slice(written, from) + this.#name;
        written = to;
      }
      at = this.#next(text, end);
    }
    return written === 0 ? bytes : Buffer.from(named + text.slice(written), 'latin1');
  }

  /** The brace of the next event; -1 behind the last. */
  #next(text: string, from: number): number {
    this.#start.lastIndex = from;
    const found = this.#start.exec(text);
    return found ? found.index + found[0].length : -1;
  }
}

class NamedStream extends WrappedSource {
  readonly #names: EventNames;

  constructor(source: Source, names: EventNames) {
    super(source);
    this.#names = names;
  }

  override push(bytes: Buffer): void {
    super.push(this.#names.write(bytes));
  }
}

interface TextRange {
  readonly from: number;
  readonly to: number;
}

interface MemberSpans {
  /** Several where keys are repeated; none where the object has no such member, or one that is no string. */
  readonly values: readonly TextRange[];
  /** Behind the object. */
  readonly end: number;
}

/**
 * Finds a string in the JSON object at `start` by its keys, without recursion: an upstream may nest its reply as deeply
 * as it likes. Strings under the same keys elsewhere do not match. The text may end before the object does.
 */
function stringsAt(text: string, start: number, path: readonly string[]): MemberSpans {
  let depth = 0;
  /** How many keys of `path` lead to the object at this depth. */
  let matched = 0;
  const values: TextRange[] = [];
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const to = stringEnd(text, at);
      const next = afterSpace(text, to);
      const isKey = text[next] === ':';
      if (isKey && depth === matched + 1 && text.slice(at + 1, to - 1) === path[matched]) {
        const from = afterSpace(text, next + 1);
        const isLast = matched + 1 === path.length;
        if (!isLast && text[from] === '{') matched += 1;
        if (isLast && text[from] === '"') values.push({ from, to: stringEnd(text, from) });
      }
      at = isKey ? next + 1 : to;
      continue;
    }
    at += 1;
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { values, end: at };
      matched = Math.min(matched, depth - 1);
    }
  }
  return { values, end: text.length };
}

/** Behind the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const SPACE = /[ \t\r\n]*/y;

function afterSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}
