import { PIECE_UNIT, type StoredFile } from '../../../core/kernel/index.ts';
import type { FileUpload } from '../file-store.ts';
import type { SmallReply } from '../../../core/upstream/types.ts';
import { failed, failureOf, isReply, isTransient, type GcsApi } from './gcs-api.ts';

/** Pieces of an upload are multiples of 256 KiB (docs/protocols/files.md#cloud-storage). One is in memory for each upload. */
export const CHUNK = 8 * 1024 * 1024;

const TRIES = 4;

interface UploadSetup {
  readonly api: GcsApi;
  /** Address of the upload's session. */
  readonly session: string;
  /** Bytes that earlier requests have stored. */
  readonly stored?: number;
  readonly publish: (bytes: number, ...args: Parameters<FileUpload['publish']>) => Promise<StoredFile>;
  readonly remove: () => Promise<unknown>;
}

/** A resumable upload. Its object exists once the last piece has arrived, and is visible once it has its metadata. */
export class GcsUpload implements FileUpload {
  readonly #setup: UploadSetup;
  readonly #chunk = Buffer.allocUnsafe(CHUNK);
  #filled = 0;
  /** Bytes that the store has confirmed. */
  #stored: number;
  #state: 'open' | 'complete' | 'over' = 'open';

  constructor(setup: UploadSetup) {
    this.#setup = setup;
    this.#stored = setup.stored ?? 0;
  }

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      // A full piece is sent only when more follows: the last piece is marked as the last.
      if (this.#filled === CHUNK) await this.#send(false);
      const copied = bytes.copy(this.#chunk, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
  }

  /** Sends what a store takes of an unfinished upload, drops the rest, and returns the bytes that are stored. */
  async flush(): Promise<number> {
    this.#filled -= this.#filled % PIECE_UNIT;
    if (this.#filled > 0) await this.#send(false);
    return this.#stored;
  }

  async publish(...args: Parameters<FileUpload['publish']>): Promise<StoredFile> {
    await this.#send(true);
    this.#state = 'complete';
    const file = await this.#setup.publish(this.#stored, ...args);
    this.#state = 'over';
    return file;
  }

  async discard(): Promise<void> {
    const { api, session, remove } = this.#setup;
    const state = this.#state;
    this.#state = 'over';
    // The store drops an abandoned session after a week, and the sweep an object without metadata.
    if (state === 'open') await api.once({ method: 'DELETE', url: session, headers: {} }).catch(() => {});
    else if (state === 'complete') await remove().catch(() => {});
  }

  /** Sends the piece until the store has all of it. A piece that may have arrived in part continues where the store says. */
  async #send(last: boolean): Promise<void> {
    const end = this.#stored + this.#filled;
    const total = last ? String(end) : '*';
    let begin = this.#stored;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#put(begin, end, total).catch((error: unknown) => error);
      const at = isReply(outcome) ? persisted(outcome.status, outcome.headers['range'], end) : undefined;
      if (at !== undefined && at >= end && (!last || (isReply(outcome) && outcome.status !== 308))) break;
      if (attempt === TRIES || (isReply(outcome) && at === undefined && !isTransient(outcome.status)))
        throw failureOf(outcome);
      await this.#setup.api.pause(attempt);
      const arrived = at === undefined ? await this.#ask(end) : { at, complete: false };
      // The reply to the last piece was lost.
      if (arrived.complete) break;
      begin = arrived.at;
      if (begin < this.#stored || begin > end) throw failed('it lost a part of the upload');
      if (begin === end && !last) break;
    }
    this.#stored = end;
    this.#filled = 0;
  }

  #put(begin: number, end: number, total: string) {
    const { api, session } = this.#setup;
    const range = begin === end ? `bytes */${total}` : `bytes ${begin}-${end - 1}/${total}`;
    const bodyBytes = this.#chunk.subarray(begin - this.#stored, end - this.#stored);
    return api.once({ method: 'PUT', url: session, headers: { 'content-range': range }, bodyBytes });
  }

  async #ask(end: number): Promise<{ readonly at: number; readonly complete: boolean }> {
    const { api, session } = this.#setup;
    const reply = await askSession(api, session);
    const at = persisted(reply.status, reply.headers['range'], end) ?? this.#stored;
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
