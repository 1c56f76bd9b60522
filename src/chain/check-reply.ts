import { validateHeaderName, validateHeaderValue, type ServerResponse } from 'node:http';
import type { Reply } from '../plugin/index.ts';

/** Framing is that of the connection, which node:http chooses: with these, what leaves is no message of HTTP (RFC 9112, section 6.1). */
const FRAMING: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer', 'upgrade']);

type Headers = Pick<ServerResponse, 'hasHeader' | 'removeHeader'>;

const SOURCE_METHODS = ['open', 'pause', 'resume', 'cancel'] as const;

/**
 * Why a reply that a plugin from outside has left could not be sent; undefined where it can. node:http throws for such a reply
 * when it is too late for another answer.
 */
export function checkReply(reply: unknown): string | undefined {
  if (reply === undefined) return undefined;
  if (typeof reply !== 'object' || reply === null) return 'it is no object';
  const { status, headers, body } = reply as Partial<Reply>;
  // 1xx are no final answers (RFC 9110, section 15.2).
  if (!Number.isInteger(status) || status! < 200 || status! > 999)
    return 'its status is no whole number from 200 to 999';
  if (typeof headers !== 'object' || headers === null) return 'its headers are no object';
  return checkBody(body) ?? checkHeaders(headers);
}

/** A context of Koa. In an attempt `ctx.set` writes to a response of the attempt's own, and `ctx.res` is the client's. */
interface ReplyContextLike {
  readonly res: Headers;
  readonly response: { readonly res: Headers };
}

const responsesOf = ({ res, response }: ReplyContextLike): readonly Headers[] => [res, response.res];

/** The same for headers that it has set on the response itself, `ctx.set` of Koa among the ways. */
export function checkFraming(ctx: ReplyContextLike): string | undefined {
  const set = [...FRAMING].find((name) => responsesOf(ctx).some((res) => res.hasHeader(name)));
  return set === undefined ? undefined : foreignFraming(set);
}

export function dropFraming(ctx: ReplyContextLike): void {
  for (const name of FRAMING) for (const res of responsesOf(ctx)) if (res.hasHeader(name)) res.removeHeader(name);
}

const foreignFraming = (name: string): string => `its header "${name}" is for the gateway to set`;

function checkBody(body: unknown): string | undefined {
  if (Buffer.isBuffer(body)) return undefined;
  if (typeof body !== 'object' || body === null) return 'its body is neither a Buffer nor a Source';
  const missing = SOURCE_METHODS.find((method) => typeof Reflect.get(body, method) !== 'function');
  return missing === undefined ? undefined : `its body is neither a Buffer nor a Source: \`${missing}\` is no function`;
}

function checkHeaders(headers: Readonly<Record<string, unknown>>): string | undefined {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (FRAMING.has(key) || (key === 'content-length' && name !== key)) return foreignFraming(key);
    if (seen.has(key)) return `its header ${JSON.stringify(key.slice(0, 100))} is there twice`;
    seen.add(key);
    try {
      validateHeaderName(name);
      // node:http accepts arrays and numbers.
      for (const one of [value].flat()) validateHeaderValue(name, one as string);
    } catch {
      return `its header ${JSON.stringify(name.slice(0, 100))} cannot be written`;
    }
  }
  return undefined;
}
