import { GatewayError, RequestBody, type Sink, type Source } from '../../src/plugin/index.ts';

/**
 * The member of a stream's event that names the model: `modelVersion` in Gemini's API, `model` in all others. Quotes inside a
 * text are escaped, so no text of the answer matches.
 */
const MODEL = /"(model|modelVersion)"([ \t]*:[ \t]*)"((?:[^"\\]|\\.)*)"/;
const EVERY_MODEL = new RegExp(MODEL.source, 'g');

/** Nesting that a scan of a reply accepts. */
const DEPTH = 10_000;
const OPEN_OBJECT = 0x7b;

/**
 * The body with another name of its model. A document names it in its first level; all events of a stream have the name
 * of its first event.
 */
export function withModelName(body: Buffer | Source, name: string): Buffer | Source {
  if (!Buffer.isBuffer(body)) return new NamedStream(body, name);
  // A cached stream is a whole body too.
  return body[0] === OPEN_OBJECT ? inDocument(body, name) : new EventNames(name).write(body);
}

/** Only the value is replaced: all other bytes stay. A document that the gateway cannot scan stays as it is. */
function inDocument(bytes: Buffer, name: string): Buffer {
  try {
    const document = RequestBody.read(bytes, DEPTH);
    const key = ['model', 'modelVersion'].find((field) => document.string(field) !== undefined);
    return key === undefined ? bytes : document.edit([{ path: [key], value: name, source: 'alias' }]).encode();
  } catch (error) {
    if (error instanceof GatewayError) return bytes;
    throw error;
  }
}

class EventNames {
  readonly #name: string;
  /** The upstream's name, as it is escaped. */
  #first: string | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** @param bytes whole events. Latin-1 keeps one character per byte. */
  write(bytes: Buffer): Buffer {
    if (!bytes.includes('"model')) return bytes;
    const text = bytes.toString('latin1');
    this.#first ??= MODEL.exec(text)?.[3];
    const named = text.replace(EVERY_MODEL, (member, key: string, colon: string, value: string) =>
      value === this.#first ? `"${key}"${colon}${JSON.stringify(this.#name)}` : member,
    );
    return Buffer.from(named, 'latin1');
  }
}

/** Forwards a stream, whose pieces are whole events. */
class NamedStream implements Source, Sink {
  readonly #source: Source;
  readonly #names: EventNames;
  #sink: Sink | undefined;

  constructor(source: Source, name: string) {
    this.#source = source;
    this.#names = new EventNames(name);
  }

  // Towards the client

  open(sink: Sink): void {
    this.#sink = sink;
    this.#source.open(this);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(reason: GatewayError): void {
    this.#source.cancel(reason);
  }

  // From the upstream

  push(bytes: Buffer): void {
    this.#sink?.push(this.#names.write(bytes));
  }

  end(): void {
    this.#sink?.end();
  }

  fail(error: GatewayError): void {
    this.#sink?.fail(error);
  }
}
