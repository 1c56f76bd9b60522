import type { StoredFile } from '../../core/kernel/index.ts';
import type { ContinuedUpload, FileUpload } from './file-store.ts';

/** One is in memory for each upload. Cloud Storage takes multiples of 256 KiB, S3 takes 5 MiB or more (docs/protocols/files.md). */
export const CHUNK = 8 * 1024 * 1024;

export interface BucketUploadSetup {
  readonly publish: (bytes: number, ...args: Parameters<FileUpload['publish']>) => Promise<StoredFile>;
  readonly remove: () => Promise<unknown>;
}

/** An upload whose bytes go to a bucket in chunks. Its object exists once the last one has arrived, and is visible once published. */
export abstract class BucketUpload implements FileUpload {
  protected readonly chunk = Buffer.allocUnsafe(CHUNK);
  protected filled = 0;
  /** Bytes that the store has confirmed. */
  protected stored: number;
  readonly #end: BucketUploadSetup;
  #state: 'open' | 'ending' | 'complete' | 'over' = 'open';

  /** @param stored bytes that earlier requests have stored */
  constructor(end: BucketUploadSetup, stored: number) {
    this.#end = end;
    this.stored = stored;
  }

  /** Sends the chunk until the store has all of it. */
  protected abstract send(last: boolean): Promise<void>;
  /** Drops what the store has of an object that does not exist yet. */
  protected abstract abandon(): Promise<unknown>;

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      // A full chunk is sent only when more follows: the last one is marked as the last.
      if (this.filled === CHUNK) await this.send(false);
      const copied = bytes.copy(this.chunk, this.filled, at);
      this.filled += copied;
      at += copied;
    }
  }

  async publish(...args: Parameters<FileUpload['publish']>): Promise<StoredFile> {
    const bytes = this.stored + this.filled;
    this.#state = 'ending';
    await this.send(true);
    this.#state = 'complete';
    const file = await this.#end.publish(bytes, ...args);
    this.#state = 'over';
    return file;
  }

  /** The sweep removes what stays. */
  async discard(): Promise<void> {
    const state = this.#state;
    this.#state = 'over';
    if (state === 'open' || state === 'ending') await this.abandon().catch(() => {});
    // The reply to the last chunk may have been lost.
    if (state === 'ending' || state === 'complete') await this.#end.remove().catch(() => {});
  }
}

interface Continuation extends Pick<ContinuedUpload, 'suspend'> {
  /** Removes the state that is kept between two requests. */
  readonly end: () => Promise<unknown>;
}

export const continuedUpload = (
  upload: BucketUpload,
  of: Pick<ContinuedUpload, 'filename' | 'declared' | 'received' | 'head'>,
  { suspend, end }: Continuation,
): ContinuedUpload => ({
  ...of,
  suspend,
  write: (bytes) => upload.write(bytes),
  publish: async (...args) => {
    const file = await upload.publish(...args);
    // The sweep removes a state that stays.
    await end().catch(() => {});
    return file;
  },
  discard: async () => {
    await upload.discard();
    await end().catch(() => {});
  },
});
