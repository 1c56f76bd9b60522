import { validateHeaderName, validateHeaderValue, type ServerResponse } from 'node:http';
import type { Reply } from '../../../plugin/index.ts';

/** With these headers the output would not be a valid HTTP message (RFC 9112, section 6.1). */
const FRAMING: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer', 'upgrade']);

type HeaderWriter = Pick<ServerResponse, 'getHeaderNames' | 'hasHeader' | 'removeHeader'>;

const SOURCE_METHODS = ['open', 'pause', 'resume', 'cancel'] as const;

/** Why the reply of an external plugin cannot be sent. node:http throws when it is too late for an error reply. */
export function checkReply(reply: unknown): string | undefined {
  if (reply === undefined) return undefined;
  if (typeof reply !== 'object' || reply === null) return 'it is not an object';
  const { status, headers, body } = reply as Partial<Reply>;
  // A 1xx status is not final (RFC 9110, section 15.2).
  if (!Number.isInteger(status) || status! < 200 || status! > 999)
    return 'its status is not an integer from 200 to 999';
  if (typeof headers !== 'object' || headers === null) return 'its headers are not an object';
  return checkBody(body) ?? checkHeaders(headers);
}

/** A Koa context. In an attempt, `ctx.set` writes to the attempt's own response, and `ctx.res` is the client's. */
interface ReplyContextLike {
  readonly res: HeaderWriter;
  readonly response: { readonly res: HeaderWriter };
}

/** Checks the framing headers that the plugin set on the response itself, for example with Koa's `ctx.set`. */
export function checkFraming(ctx: ReplyContextLike): string | undefined {
  const { res, response } = ctx;
  return framingOf(res) ?? (response.res === res ? undefined : framingOf(response.res));
}

/** One call of the response: most have no header yet. */
function framingOf(res: HeaderWriter): string | undefined {
  for (const name of res.getHeaderNames()) if (FRAMING.has(name)) return foreignFraming(name);
  return undefined;
}

export function dropFraming(ctx: ReplyContextLike): void {
  for (const res of [ctx.res, ctx.response.res])
    for (const name of FRAMING) if (res.hasHeader(name)) res.removeHeader(name);
}

const foreignFraming = (name: string): string => `only the gateway may set its header "${name}"`;

function checkBody(body: unknown): string | undefined {
  if (Buffer.isBuffer(body)) return undefined;
  if (typeof body !== 'object' || body === null) return 'its body is neither a Buffer nor a Source';
  const missing = SOURCE_METHODS.find((method) => typeof Reflect.get(body, method) !== 'function');
  return missing === undefined
    ? undefined
    : `its body is neither a Buffer nor a Source: \`${missing}\` is not a function`;
}

/** A field name (RFC 9110, section 5.1) without capitals: two such names of one object differ. */
const SMALL_NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/;

/** Names that are valid and frame nothing. Nearly all replies have the same few. */
const plainNames = new Set<string>();
const MOST_NAMES = 1000;
const LONGEST_NAME = 64;

function isPlainName(name: string): boolean {
  if (plainNames.has(name)) return true;
  if (!SMALL_NAME.test(name) || FRAMING.has(name)) return false;
  if (plainNames.size < MOST_NAMES && name.length <= LONGEST_NAME) plainNames.add(name);
  return true;
}

/** True for a value that node:http takes. Most are short: a loop takes less time than a regular expression. */
function isPlainValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if ((code < 0x20 && code !== TAB) || code === DELETE || code > 0xff) return false;
  }
  return true;
}

const TAB = 0x09;
const DELETE = 0x7f;

function arePlain(headers: Readonly<Record<string, unknown>>): boolean {
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value !== 'string' || !isPlainName(name) || !isPlainValue(value)) return false;
  }
  return true;
}

function checkHeaders(headers: Readonly<Record<string, unknown>>): string | undefined {
  // Node's own checks of each take a third of the time of an empty plugin (measured).
  if (arePlain(headers)) return undefined;
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (FRAMING.has(key) || (key === 'content-length' && name !== key)) return foreignFraming(key);
    if (seen.has(key)) return `its header ${JSON.stringify(key.slice(0, 100))} is duplicated`;
    seen.add(key);
    try {
      validateHeaderName(name);
      // node:http accepts arrays and numbers.
      for (const one of [value].flat()) validateHeaderValue(name, one as string);
    } catch {
      return `its header ${JSON.stringify(name.slice(0, 100))} is not valid HTTP`;
    }
  }
  return undefined;
}
