import { GatewayError, UpstreamError, type Cancellation, type Clock } from '../../plugin/index.ts';
import type { RemoteMediaSettings } from '../kernel/index.ts';
import type { Download, Upstream } from '../upstream/types.ts';
import type { ByteBudget } from '../upstream/bounded-body.ts';
import type { AllowedHosts } from '../catalog/custom-host.ts';
import { version } from '../kernel/version.ts';
import { bareMime, NO_TYPE, registered, sniffMedia } from '../../formats/media/media-types.ts';
import type { FetchedMedia } from '../../formats/media/remote-media.ts';

/** Object stores and short links redirect once. No media need longer chains. */
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface FetchContext {
  readonly download: Upstream['download'];
  readonly clock: Clock;
  readonly settings: RemoteMediaSettings;
  readonly hosts: AllowedHosts;
  readonly budget: ByteBudget;
  /** Monotonic: `until` by `remote_media.timeout`, `deadline` by the attempt's end. */
  readonly until: number;
  readonly deadline: number;
  /** The limit behind `deadline`: the target's total timeout, or the request's deadline. */
  readonly deadlineOf: 'total' | 'request';
  readonly cancellation: Cancellation;
  /** The media types that the target reads, as an `accept` header. */
  readonly accept: string;
}

/** Why media are unavailable, as a phrase behind the name of the part. The cause is for the log alone. */
export class MediaRefused extends Error {
  override readonly name = 'MediaRefused';
}

/** Throws MediaRefused, and the cancellation's reason. @param places the parts that will hold the bytes: each counts */
export async function fetchMedia(address: string, places: number, context: FetchContext): Promise<Download> {
  let url = URL.parse(address);
  for (let hop = 0; ; hop += 1) {
    if (!url || !context.hosts.isAllowed(url)) throw new MediaRefused(badAddress(context, hop));
    if (!context.hosts.allows(url)) throw new MediaRefused(notAllowed(url, hop));
    const server = hop > 0 ? 'the redirect target' : url.host;
    const reply = await get({ url, server, places }, context);
    if (reply.status === 200) return reply;
    const location = REDIRECTS.has(reply.status) ? reply.headers['location'] : undefined;
    if (location === undefined)
      throw new MediaRefused(`cannot be fetched: ${server} replied with status ${reply.status}`);
    if (hop === MAX_REDIRECTS)
      throw new MediaRefused(`cannot be fetched: it is redirected more than ${MAX_REDIRECTS} times`);
    url = URL.parse(location, url.href);
  }
}

interface RedirectHop {
  readonly url: URL;
  /** For messages to the caller. The target of a redirect is not the caller's own text and is not revealed. */
  readonly server: string;
  readonly places: number;
}

async function get({ url, server, places }: RedirectHop, context: FetchContext): Promise<Download> {
  const { download, clock, settings, budget, cancellation, accept } = context;
  const timeoutMs = Math.min(context.until, context.deadline) - clock.now();
  if (timeoutMs <= 0) throw tooLate(context);
  try {
    return await download({
      url,
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': `gatehouse/${version().version}` },
      allowInsecure: settings.allowInsecure,
      timeoutMs,
      cancellation,
      room: () => Math.floor(budget.left / places),
      admit: (bytes) => budget.take(bytes * places),
    });
  } catch (error) {
    throw refusalOf(error, server, context);
  }
}

/** The caller learns only that the connection failed: more would map the internal network. */
function refusalOf(error: unknown, server: string, context: FetchContext): unknown {
  // A cancellation's reason, or a fault of the gateway's own.
  if (!(error instanceof UpstreamError)) return error;
  switch (error.code) {
    case 'reply_too_large':
      return new MediaRefused(
        `cannot be fetched: the media of a request may have at most ${context.settings.maxBytes} bytes (remote_media.max_bytes)`,
        { cause: error },
      );
    case 'timeout_total':
      return tooLate(context, error);
    case 'sockets_exhausted':
      // Neither the request nor its target is at fault.
      return new GatewayError(error.code, `The gateway's host has no socket to fetch the media of the request.`, {
        cause: error,
        ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      });
    default:
      return new MediaRefused(`cannot be fetched: ${server} cannot be reached`, { cause: error });
  }
}

/** The total time limits the whole attempt, so its error is the same whatever the time was spent on. */
function tooLate({ deadline, deadlineOf, until }: FetchContext, cause?: unknown): Error {
  if (deadline > until)
    return new MediaRefused('cannot be fetched: it did not arrive in time (remote_media.timeout)', { cause });
  if (deadlineOf === 'request')
    return new GatewayError('timeout_request', "The request's deadline passed before its media arrived.", { cause });
  const message = "The request's media did not arrive within the total time of its target (timeouts.total).";
  return new GatewayError('timeout_total', message, { cause });
}

const badAddress = ({ settings }: FetchContext, hop: number): string =>
  hop > 0
    ? 'cannot be fetched: it is redirected to an address that is not allowed'
    : `cannot be fetched: only ${settings.allowInsecure ? 'http and https' : 'https'} URLs without credentials are allowed`;

const notAllowed = ({ host }: URL, hop: number): string =>
  hop > 0
    ? 'cannot be fetched: it is redirected to a host that `remote_media.hosts` does not allow'
    : `cannot be fetched: \`remote_media.hosts\` of the gateway config does not allow ${host}`;

const TEXT = 'text/plain';

/**
 * The server's type is a claim, and the first bytes must agree with it: otherwise an HTML page labelled `image/png`
 * would reach the model. Returns a phrase that follows `it` if the download is unusable.
 */
export function readMedia({ headers, body }: Download, types: ReadonlySet<string>): FetchedMedia | string {
  // The request asks for no encoding. An encoded body could have any size once decoded.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 'has a content-encoding';
  const contentType = headers['content-type'] ?? '';
  const mime = registered(bareMime(contentType));
  const found = sniffMedia(body);
  if (NO_TYPE.has(mime)) {
    return found !== undefined && types.has(found) ? { mime: found, data: body } : 'has no media type';
  }
  if (!types.has(mime)) return `is ${quoted(mime)}; the target reads ${[...types].join(', ')}`;
  if (mime === TEXT)
    return found === undefined ? readPlainText(contentType, body) : `is declared as ${TEXT} but is ${found}`;
  if (found !== mime) return `is declared as ${mime} but is ${found ?? 'of another type'}`;
  return { mime, data: body };
}

/** The server's type, which a caller reads in a message, so only a well-formed one is quoted. */
const quoted = (mime: string): string =>
  /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/.test(mime) ? mime : 'of another type';

function readPlainText(contentType: string, body: Buffer): FetchedMedia | string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(body);
    // Text has no NUL characters, and most binary files without a known signature have some.
    return text.includes('\0') ? `is declared as ${TEXT} but is binary` : { mime: TEXT, data: Buffer.from(text) };
  } catch {
    return `is declared as ${TEXT} but cannot be decoded`;
  }
}
