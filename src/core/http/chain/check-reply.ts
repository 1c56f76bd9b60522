import { validateHeaderName, validateHeaderValue, type ServerResponse } from 'node:http';
import type { Reply } from '../../../plugin/index.ts';

/** With these headers the output would not be a valid HTTP message (RFC 9112, section 6.1). */
const FRAMING: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer', 'upgrade']);

type HeaderWriter = Pick<ServerResponse, 'hasHeader' | 'removeHeader'>;

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

const responsesOf = ({ res, response }: ReplyContextLike): readonly HeaderWriter[] =>
  res === response.res ? [res] : [res, response.res];

/** Checks the framing headers that the plugin set on the response itself, for example with Koa's `ctx.set`. */
export function checkFraming(ctx: ReplyContextLike): string | undefined {
  for (const res of responsesOf(ctx)) for (const name of FRAMING) if (res.hasHeader(name)) return foreignFraming(name);
  return undefined;
}

export function dropFraming(ctx: ReplyContextLike): void {
  for (const res of responsesOf(ctx)) for (const name of FRAMING) if (res.hasHeader(name)) res.removeHeader(name);
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
/** What node:http takes as a value. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

function checkHeaders(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (!SMALL_NAME.test(name) || FRAMING.has(name) || typeof value !== 'string' || !VALUE.test(value))
      return checkEach(headers);
  }
  return undefined;
}

/** Finds the header that is wrong. Checking each one so takes a third of the time of an empty plugin (measured). */
function checkEach(headers: Readonly<Record<string, unknown>>): string | undefined {
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
