import { PIECE_UNIT } from '../../../core/kernel/index.ts';
import type { SmallReply } from '../../../core/upstream/types.ts';
import { isReply, isTransient, TRIES } from '../bucket-api.ts';
import { BucketUpload, type BucketUploadSetup } from '../bucket-upload.ts';
import type { GcsApi } from './gcs-api.ts';

interface GcsUploadSetup extends BucketUploadSetup {
  readonly api: GcsApi;
  readonly session: string;
  readonly stored?: number;
}

export class GcsUpload extends BucketUpload {
  readonly #setup: GcsUploadSetup;

  constructor(setup: GcsUploadSetup) {
    super(setup, setup.stored ?? 0);
    this.#setup = setup;
  }

  /** Sends what a store takes of an unfinished upload, drops the rest, and returns the bytes that are stored. */
  async flush(): Promise<number> {
    this.filled -= this.filled % PIECE_UNIT;
    if (this.filled > 0) await this.send(false);
    return this.stored;
  }

  /** The store drops an abandoned session after a week. */
  protected override abandon(): Promise<unknown> {
    const { api, session } = this.#setup;
    return api.once({ method: 'DELETE', url: session, headers: {} });
  }

  /** A chunk that may have arrived in part continues where the store says. */
  protected override async send(last: boolean): Promise<void> {
    const { api } = this.#setup;
    const end = this.stored + this.filled;
    const total = last ? String(end) : '*';
    let begin = this.stored;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#put(begin, end, total).catch((error: unknown) => error);
      const at = isReply(outcome) ? persisted(outcome.status, outcome.headers['range'], end) : undefined;
      if (at !== undefined && at >= end && (!last || (isReply(outcome) && outcome.status !== 308))) break;
      if (attempt === TRIES || (isReply(outcome) && at === undefined && !isTransient(outcome.status)))
        throw api.failureOf(outcome);
      await api.pause(attempt);
      const arrived = at === undefined ? await this.#ask(end) : { at, complete: false };
      // The reply to the last chunk was lost.
      if (arrived.complete) break;
      begin = arrived.at;
      if (begin < this.stored || begin > end) throw api.failed('it lost a part of the upload');
      if (begin === end && !last) break;
    }
    this.stored = end;
    this.filled = 0;
  }

  #put(begin: number, end: number, total: string) {
    const { api, session } = this.#setup;
    const range = begin === end ? `bytes */${total}` : `bytes ${begin}-${end - 1}/${total}`;
    const bodyBytes = this.chunk.subarray(begin - this.stored, end - this.stored);
    return api.once({ method: 'PUT', url: session, headers: { 'content-range': range }, bodyBytes });
  }

  async #ask(end: number): Promise<{ readonly at: number; readonly complete: boolean }> {
    const { api, session } = this.#setup;
    const reply = await askSession(api, session);
    const at = persisted(reply.status, reply.headers['range'], end) ?? this.stored;
    return { at, complete: reply.status !== 308 };
  }
}

const askSession = (api: GcsApi, session: string, more: readonly number[] = []): Promise<SmallReply> =>
  api.call({ method: 'PUT', url: session, headers: { 'content-range': 'bytes */*' } }, [200, 201, 308, ...more]);

/** The bytes that an unfinished session has; undefined where it has ended. */
export async function receivedIn(api: GcsApi, session: string): Promise<number | undefined> {
  const { status, headers } = await askSession(api, session, [404, 410, 499]);
  return status === 308 ? persisted(status, headers['range'], 0) : undefined;
}

/** The number of bytes that the store has; undefined where the reply does not say. */
function persisted(status: number, range: string | undefined, end: number): number | undefined {
  if (status === 200 || status === 201) return end;
  if (status !== 308) return undefined;
  if (range === undefined) return 0;
  const last = /^bytes=0-(\d{1,15})$/.exec(range)?.[1];
  return last === undefined ? undefined : Number(last) + 1;
}
