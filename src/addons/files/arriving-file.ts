import { bodyPieces } from '../../../plugins/body/pieces.ts';
import type { GatewayContext, StoredFile } from '../../core/kernel/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { ContinuedUpload, FileUpload } from './file-store.ts';
import type { ArrivingUpload } from './arrivals.ts';
import { admitFile, FileQuota } from './file-quota.ts';
import { checkType, HEAD_BYTES, type NamedFile } from './file-type.ts';
import type { FileServiceSetup, Owned } from './setup.ts';

/** A file while a request brings bytes of it. */
export class ArrivingFile {
  readonly #upload: FileUpload;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes: number;
  #bytes: number;

  /** @param begun what earlier requests have brought */
  constructor(upload: FileUpload, begun?: Pick<ContinuedUpload, 'received' | 'head'>) {
    this.#upload = upload;
    this.#bytes = begun?.received ?? 0;
    this.#headBytes = begun?.head.copy(this.#head) ?? 0;
  }

  get head(): Buffer {
    return this.#head.subarray(0, this.#headBytes);
  }

  async write(bytes: Buffer, quota: FileQuota): Promise<void> {
    this.#bytes += bytes.length;
    quota.take(this.#bytes);
    if (this.#headBytes < HEAD_BYTES) this.#headBytes += bytes.copy(this.#head, this.#headBytes);
    await this.#upload.write(bytes);
  }

  async publish(named: NamedFile, { limits }: Pick<Owned, 'limits'>, expiresAt: number): Promise<StoredFile> {
    if (this.#bytes === 0) throw new GatewayError('invalid_value', '`file` is empty.', { param: 'file' });
    const { filename, purpose } = named;
    const mime = checkType(this.head, named);
    return this.#upload.publish({ filename, mime, purpose, expiresAt }, (sizes) => admitFile(limits, sizes));
  }
}

/** The bytes that an owner may still store, all uploads under way counted. Throws GatewayError if there are too many files. */
export async function quotaOf(
  { store }: Pick<FileServiceSetup, 'store'>,
  { owner, limits, present }: Owned,
  arrival: ArrivingUpload,
): Promise<FileQuota> {
  const files = await present();
  arrival.count([...files, ...(await store.unfinished(owner))]);
  return new FileQuota(limits, files.length, arrival);
}

/** Reads the body of a request piece by piece, and counts its bytes. */
export function filePieces(
  ctx: GatewayContext,
  { clock, settings: { idleMs } }: Pick<FileServiceSetup, 'clock' | 'settings'>,
): () => Promise<Buffer | undefined> {
  const read = bodyPieces(ctx, { clock, idleMs, setting: 'files.idle_time', what: 'file' });
  return async () => {
    const piece = await read();
    ctx.exchange.request.bodyBytes += piece?.length ?? 0;
    return piece;
  };
}
