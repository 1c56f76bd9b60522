import type { SmallReply, SmallRequest, Upstream } from '../../core/upstream/types.ts';
import { isObject, type StoredFile } from '../../core/kernel/index.ts';
import { GatewayError, UpstreamError, type Clock } from '../../plugin/index.ts';

export type BucketHeaders = Readonly<Record<string, string>>;

export interface BucketTools {
  readonly bucket: string;
  readonly prefix: string;
  readonly allowInsecure: boolean;
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'exchange'>;
}

export interface BucketCall extends Pick<SmallRequest, 'method' | 'url' | 'body' | 'bodyBytes' | 'maxBytes'> {
  readonly headers?: BucketHeaders;
  readonly timeoutMs?: number;
}

/** Calls are pieces of a few MiB at most. */
const TIMEOUT_MS = 60_000;
/** One for each of the default number of uploads. */
const CONNECTIONS = 32;
/** Tries of a call, or of a piece of an upload. */
export const TRIES = 4;
const BACKOFF_MS = 300;
/** Bytes of a file that are in memory while it is read. */
const PIECE = 4 * 1024 * 1024;

/** Objects of one page of a listing, and its size at most: names and metadata of a thousand objects take less. */
export const PAGE = 1000;
export const PAGE_BYTES = 8 * 1024 * 1024;
/** Pages of a listing: more than the files that a key may have, or that one sweep must look at. */
export const MAX_PAGES = 50;

/** Calls of the API of a bucket. Throws GatewayError `file_store_failed`: all that a store answers is a claim. */
export abstract class BucketApi {
  readonly #store: string;
  readonly #tools: BucketTools;

  /** @param store its name in errors */
  constructor(store: string, tools: BucketTools) {
    this.#store = store;
    this.#tools = tools;
  }

  abstract once(call: BucketCall): Promise<SmallReply>;

  protected send(call: BucketCall, headers: BucketHeaders): Promise<SmallReply> {
    const { upstream, allowInsecure } = this.#tools;
    return upstream.exchange({ timeoutMs: TIMEOUT_MS, ...call, allowInsecure, connections: CONNECTIONS, headers });
  }

  /** A call that may be repeated: statuses that are not accepted are thrown, after retries of those that may pass. */
  async call(call: BucketCall, accepted: readonly number[]): Promise<SmallReply> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.once(call).catch((error: unknown) => error);
      if (isReply(outcome) && accepted.includes(outcome.status)) return outcome;
      const mayPass = isReply(outcome)
        ? isTransient(outcome.status)
        : outcome instanceof UpstreamError && outcome.retryable;
      if (!mayPass || attempt === TRIES) throw this.failureOf(outcome);
      await this.pause(attempt);
    }
  }

  /** The bytes of a file's object in pieces. Reads the next piece when it is requested. */
  async *ranges(url: string, { id, bytes }: Pick<StoredFile, 'id' | 'bytes'>): AsyncGenerator<Buffer> {
    let etag: string | undefined;
    for (let at = 0; at < bytes;) {
      const end = Math.min(at + PIECE, bytes);
      const range = { range: `bytes=${at}-${end - 1}` };
      const reply = await this.call({ method: 'GET', url, headers: range, maxBytes: PIECE }, [200, 206]);
      const { bytes: piece, headers } = reply;
      if (piece?.length !== end - at || (totalIn(headers) ?? bytes) !== bytes)
        throw this.failed(`the object of ${id} is not as long as its listing says`);
      if (at > 0 && headers['etag'] !== etag) throw this.failed(`the object of ${id} has changed while it was read`);
      etag = headers['etag'];
      at = end;
      yield piece;
    }
  }

  pause(attempt: number): Promise<void> {
    return this.#tools.clock.sleep(BACKOFF_MS * 2 ** (attempt - 1));
  }

  parseJson(text: string | undefined): unknown {
    try {
      return JSON.parse(text ?? '');
    } catch {
      throw this.failed('its reply is not valid JSON');
    }
  }

  failed(why: string, cause?: unknown): GatewayError {
    return new GatewayError('file_store_failed', `${this.#store} failed: ${why}.`, { cause });
  }

  failureOf(outcome: unknown): GatewayError {
    if (isReply(outcome)) return this.refusalOf(outcome);
    if (outcome instanceof GatewayError && !(outcome instanceof UpstreamError)) return outcome;
    return this.failed(outcome instanceof UpstreamError ? outcome.code : 'the call failed', outcome);
  }

  /** The store's own message may quote names of other keys' objects, so the caller gets the status alone. */
  protected refusalOf(reply: SmallReply): GatewayError {
    const bytes = reply.bytes?.toString('utf8', 0, 500) ?? reply.text.slice(0, 500);
    return this.failed(`it replied with status ${reply.status}`, new Error(bytes));
  }
}

/** Errors have a status too. */
export const isReply = (outcome: unknown): outcome is SmallReply =>
  isObject(outcome) && !(outcome instanceof Error) && typeof outcome['status'] === 'number';

export const isTransient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The size of the object that a reply has a range of; undefined where it does not say. */
export function totalIn(headers: BucketHeaders): number | undefined {
  const total = /\/(\d{1,16})$/.exec(headers['content-range'] ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}
