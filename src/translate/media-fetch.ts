import {
  GatewayError,
  UpstreamError,
  type Cancellation,
  type Clock,
  type RemoteMediaSettings,
} from '../plugin/index.ts';
import type { Download, Upstream } from '../upstream/types.ts';
import type { AllowedHosts } from '../catalog/allowed-hosts.ts';
import { version } from '../version.ts';

/** Object stores and short links redirect once; a chain of more is nobody's media. */
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** One request's fetching: what its addresses may be and how much of everything is left. */
export interface FetchContext {
  readonly download: Upstream['download'];
  readonly clock: Clock;
  readonly settings: RemoteMediaSettings;
  readonly hosts: AllowedHosts;
  readonly budget: ByteBudget;
  /** Monotonic moments by which all of it must be there: by this setting, and by the attempt's own end. */
  readonly until: number;
  readonly deadline: number;
  /** What ends then: the target's total timeout, or the whole request. */
  readonly deadlineOf: 'total' | 'request';
  readonly cancellation: Cancellation;
  /** What the target reads, as `accept` says it. */
  readonly accept: string;
}

/** What one request may fetch, all its media together. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** Why media cannot be had, in the words that follow the name of the part; the cause is for the log alone. */
export class MediaRefused extends Error {
  override readonly name = 'MediaRefused';
}

/**
 * Gets what is at an address. Throws MediaRefused, and the cancellation's reason. `places`: in so many parts of the request the
 * bytes will stand, and each of them counts.
 */
export async function fetchMedia(address: string, places: number, context: FetchContext): Promise<Download> {
  let url = URL.parse(address);
  for (let hop = 0; ; hop += 1) {
    if (!url || !context.hosts.isAllowed(url)) throw new MediaRefused(badAddress(context, hop));
    if (!context.hosts.allows(url)) throw new MediaRefused(notAllowed(url, hop));
    const who = hop > 0 ? 'where it is redirected to' : url.host;
    const reply = await get({ url, who, places }, context);
    if (reply.status === 200) return reply;
    const location = REDIRECTS.has(reply.status) ? reply.headers['location'] : undefined;
    if (location === undefined)
      throw new MediaRefused(`cannot be fetched: ${who} answered with the status ${reply.status}`);
    if (hop === MAX_REDIRECTS)
      throw new MediaRefused(`cannot be fetched: it is redirected more than ${MAX_REDIRECTS} times`);
    url = URL.parse(location, url.href);
  }
}

interface Hop {
  readonly url: URL;
  /** Whose answer it is, as the caller may know: where a redirect leads is not their own word, and is not told. */
  readonly who: string;
  readonly places: number;
}

async function get({ url, who, places }: Hop, context: FetchContext): Promise<Download> {
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
    throw refusalOf(error, who, context);
  }
}

/**
 * What a caller may know of a failed connection is that there is none: whether a name leads inside, nowhere or to a closed port
 * would be a map of the network.
 */
function refusalOf(error: unknown, who: string, context: FetchContext): unknown {
  // A cancellation's reason, or a fault of the gateway's own.
  if (!(error instanceof UpstreamError)) return error;
  switch (error.code) {
    case 'reply_too_large':
      return new MediaRefused(
        `cannot be fetched: the media of a request may have ${context.settings.maxBytes} bytes (remote_media.max_bytes)`,
        { cause: error },
      );
    case 'timeout_total':
      return tooLate(context, error);
    case 'sockets_exhausted':
      // Nothing is wrong with the request, and nothing with its target.
      return new GatewayError(error.code, `The gateway's host has no socket to fetch the media of the request.`, {
        cause: error,
        ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      });
    default:
      return new MediaRefused(`cannot be fetched: ${who} cannot be reached`, { cause: error });
  }
}

/** The total time is the attempt's, and its end is the same error whatever it is spent on. */
function tooLate({ deadline, deadlineOf, until }: FetchContext, cause?: unknown): Error {
  if (deadline > until)
    return new MediaRefused('cannot be fetched: it was not there in time (remote_media.timeout)', { cause });
  if (deadlineOf === 'request')
    return new GatewayError('timeout_request', "The request's deadline passed before its media were there.", { cause });
  const message = 'The media of the request were not there within the total time of its target (timeouts.total).';
  return new GatewayError('timeout_total', message, { cause });
}

const badAddress = ({ settings }: FetchContext, hop: number): string =>
  hop > 0
    ? 'cannot be fetched: it is redirected to an address that may not be used'
    : `cannot be fetched: only ${settings.allowInsecure ? 'http and https' : 'https'} URLs without credentials can`;

const notAllowed = ({ host }: URL, hop: number): string =>
  hop > 0
    ? 'cannot be fetched: it is redirected to a host that `remote_media.hosts` does not allow'
    : `cannot be fetched: \`remote_media.hosts\` of the gateway config does not allow ${host}`;
