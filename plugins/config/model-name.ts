import { GatewayError, RequestBody, WrappedSource, type Source } from '../../src/plugin/index.ts';

/** Nesting that a scan of a reply accepts. */
const DEPTH = 10_000;
const OPEN_OBJECT = 0x7b;

/**
 * The body with another name of its model. A document names it in its first level, an event there or in the reply that it holds.
 */
export function withModelName(body: Buffer | Source, name: string): Buffer | Source {
  if (!Buffer.isBuffer(body)) return new NamedStream(body, name);
  // A cached stream is a whole body too.
  return body[0] === OPEN_OBJECT ? inDocument(body, name) : inEvents(body, name);
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

/** A string, with the colon behind a key; a bracket; the end of a server-sent event, which no JSON text contains. */
const TOKEN = /"((?:[^"\\\n]|\\.)*)"([ \t\r\n]*:)?|[{}[\]]|\n\r?\n/g;

/** Objects of a stream's event that have the reply's model: Responses API, Messages API. */
const HOLDERS: ReadonlySet<string> = new Set(['response', 'message']);

/**
 * Replaces the reply's own model in events: `modelVersion` of Gemini's API, `model` of all others. Arguments of a call, metadata and
 * other deeper values may have keys of these names, and stay.
 */
function inEvents(bytes: Buffer, name: string): Buffer {
  if (!bytes.includes('"model')) return bytes;
  // Latin-1 keeps one character per byte.
  const text = bytes.toString('latin1');
  const value = Buffer.from(JSON.stringify(name)).toString('latin1');
  const pieces: string[] = [];
  let done = 0;
  let depth = 0;
  let holder = '';
  let isModel = false;
  for (const { 0: token, 1: string, 2: colon, index } of text.matchAll(TOKEN)) {
    if (string === undefined) depth = depthAfter(token, depth);
    else if (colon !== undefined) {
      if (depth === 1) holder = string;
      isModel =
        (depth === 1 && (string === 'model' || string === 'modelVersion')) ||
        (depth === 2 && string === 'model' && HOLDERS.has(holder));
      continue;
    } else if (isModel) {
      pieces.push(text.slice(done, index), value);
      done = index + token.length;
    }
    isModel = false;
  }
  return done === 0 ? bytes : Buffer.from(pieces.join('') + text.slice(done), 'latin1');
}

/** An array of events is no level of its own. */
function depthAfter(token: string, depth: number): number {
  if (token === '{') return depth + 1;
  if (token === '[') return depth === 0 ? 0 : depth + 1;
  return token === '}' || token === ']' ? Math.max(0, depth - 1) : 0;
}

/** Forwards a stream, whose pieces are whole events. */
class NamedStream extends WrappedSource {
  readonly #name: string;

  constructor(source: Source, name: string) {
    super(source);
    this.#name = name;
  }

  override push(bytes: Buffer): void {
    super.push(inEvents(bytes, this.#name));
  }
}
