import { GatewayError, UpstreamError, type Clock } from '../../../plugin/index.ts';
import { isObject } from '../../../core/kernel/index.ts';
import type { SmallReply, SmallRequest, Upstream } from '../../../core/upstream/types.ts';

type Headers = Readonly<Record<string, string>>;

export interface GcsSetup {
  readonly bucket: string;
  /** Start of the names of all objects. */
  readonly prefix: string;
  readonly baseUrl: string;
  readonly allowInsecure: boolean;
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'exchange'>;
  /** Credential headers of the catalog entry. */
  readonly authorize: () => Headers | Promise<Headers>;
  /** Called with headers that were refused. True: `authorize` can return others. */
  readonly forget: (refused: Headers) => boolean;
}

interface Call extends Pick<SmallRequest, 'method' | 'url' | 'body' | 'bodyBytes' | 'maxBytes'> {
  readonly headers?: Headers;
}

/** Calls are pieces of a few MiB at most. */
const TIMEOUT_MS = 60_000;
/** One for each of the default number of uploads. */
const CONNECTIONS = 32;
const TRIES = 3;
const BACKOFF_MS = 300;

/** Calls of the JSON API of Cloud Storage (docs/protocols/files.md#cloud-storage). Throws GatewayError `file_store_failed`. */
export class GcsApi {
  readonly #setup: GcsSetup;

  constructor(setup: GcsSetup) {
    this.#setup = setup;
  }

  objectUrl(name: string, query = ''): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}${query}`;
  }

  listUrl(query: Readonly<Record<string, string>>): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/storage/v1/b/${bucket}/o?${new URLSearchParams(query).toString()}`;
  }

  uploadUrl(name: string, type: 'resumable' | 'media' = 'resumable'): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/upload/storage/v1/b/${bucket}/o?uploadType=${type}&name=${encodeURIComponent(name)}`;
  }

  /** The address of an upload's session, which the reply names: only at the same origin, because credentials go there. */
  sessionUrl({ headers }: SmallReply): string {
    const url = URL.parse(headers['location'] ?? '');
    if (!url || url.origin !== new URL(this.#setup.baseUrl).origin || url.username !== '' || url.password !== '')
      throw failed('its reply has no usable address for the upload');
    return url.href;
  }

  /** One call. Any status is returned. */
  async once(call: Call): Promise<SmallReply> {
    const { upstream, allowInsecure, authorize, forget } = this.#setup;
    const limits = { allowInsecure, connections: CONNECTIONS, timeoutMs: TIMEOUT_MS };
    const send = (credentials: Headers): Promise<SmallReply> =>
      upstream.exchange({ ...call, ...limits, headers: { ...credentials, ...call.headers } });
    const credentials = await authorize();
    const reply = await send(credentials);
    return reply.status === 401 && forget(credentials) ? send(await authorize()) : reply;
  }

  /** A call that may be repeated: statuses that are not accepted are thrown, after retries of those that may pass. */
  async call(call: Call, accepted: readonly number[]): Promise<SmallReply> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.once(call).catch((error: unknown) => error);
      if (isReply(outcome) && accepted.includes(outcome.status)) return outcome;
      const mayPass = isReply(outcome)
        ? isTransient(outcome.status)
        : outcome instanceof UpstreamError && outcome.retryable;
      if (!mayPass || attempt === TRIES) throw failureOf(outcome);
      await this.pause(attempt);
    }
  }

  pause(attempt: number): Promise<void> {
    return this.#setup.clock.sleep(BACKOFF_MS * 2 ** (attempt - 1));
  }
}

export const isReply = (outcome: unknown): outcome is SmallReply =>
  isObject(outcome) && typeof outcome['status'] === 'number';

export const isTransient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

export const failed = (why: string, cause?: unknown): GatewayError =>
  new GatewayError('file_store_failed', `Google Cloud Storage failed: ${why}.`, { cause });

/** The store's own message may quote names of other keys' objects, so the caller gets the status alone. */
export function failureOf(outcome: unknown): GatewayError {
  if (isReply(outcome)) {
    const bytes = outcome.bytes?.toString('utf8', 0, 500) ?? outcome.text.slice(0, 500);
    return failed(`it replied with status ${outcome.status}`, new Error(bytes));
  }
  if (outcome instanceof GatewayError && !(outcome instanceof UpstreamError)) return outcome;
  return failed(outcome instanceof UpstreamError ? outcome.code : 'the call failed', outcome);
}
