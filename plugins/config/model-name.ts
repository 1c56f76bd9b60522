import { WrappedSource, type Reply, type Source } from '../../src/plugin/index.ts';
import type { Operation } from '../../src/core/kernel/index.ts';
import { stringsAt } from './json-place.ts';

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
    this.#name = JSON.stringify(name);
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

/** Forwards a stream, whose pieces are whole events. */
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
