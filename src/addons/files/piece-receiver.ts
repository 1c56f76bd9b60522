import { announcedBytes } from '../../../plugins/body/pieces.ts';
import {
  PIECE_UNIT,
  type AnnouncedFile,
  type FilePiece,
  type GatewayContext,
  type StoredFile,
} from '../../core/kernel/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import { ArrivingFile, filePieces, quotaOf } from './arriving-file.ts';
import type { ArrivingUpload } from './arrivals.ts';
import { cleanName, newFileId } from './file-ids.ts';
import { FileQuota } from './file-quota.ts';
import type { FileServiceSetup, Owned } from './setup.ts';

const RETRY_AFTER_MS = 1000;

/** Failures that a further request cannot mend. */
const FINAL: ReadonlySet<string> = new Set([
  'file_too_large',
  'file_quota_exceeded',
  'unsupported_media_type',
  'invalid_value',
]);

/** Uploads whose bytes come in several requests. The store has all of their state: any process may get the next piece. */
export class PieceReceiver {
  readonly #setup: FileServiceSetup;
  /** The latest beginning of each owner that begins an upload. */
  readonly #beginnings = new Map<string, Promise<unknown>>();

  constructor(setup: FileServiceSetup) {
    this.#setup = setup;
  }

  /** One after another for each owner: each counts those before it. */
  async begin(of: Owned, file: AnnouncedFile): Promise<string> {
    const { owner } = of;
    const beginning = (this.#beginnings.get(owner) ?? Promise.resolve()).then(() => this.#begin(of, file));
    const settled = beginning.then(ignore, ignore).then(() => {
      if (this.#beginnings.get(owner) === settled) this.#beginnings.delete(owner);
    });
    this.#beginnings.set(owner, settled);
    return beginning;
  }

  async #begin({ owner, limits, present }: Owned, file: AnnouncedFile): Promise<string> {
    const { store, clock, arrivals, settings } = this.#setup;
    const id = newFileId(clock.wall());
    const arrival = arrivals.enter(owner, id)!;
    try {
      const [files, unfinished] = [await present(), await store.unfinished(owner)];
      if (unfinished.length >= settings.unfinished) throw tooManyUnfinished(unfinished.length);
      arrival.count([...files, ...unfinished]);
      new FileQuota(limits, files.length, arrival).check(file.bytes ?? 0);
      await store.beginInPieces(owner, id, { filename: cleanName(file.filename), declared: file.declared });
      return id;
    } finally {
      arrival.end();
    }
  }

  /** Undefined: there is no such upload. */
  async add(
    ctx: GatewayContext,
    owned: Owned,
    piece: FilePiece & { readonly id: string },
  ): Promise<StoredFile | number | undefined> {
    checkUnit(ctx, piece.last);
    const arrival = this.#setup.arrivals.enter(owned.owner, piece.id);
    if (!arrival) throw busy();
    try {
      return await this.#add(ctx, owned, { ...piece, arrival });
    } finally {
      arrival.end();
    }
  }

  async #add(
    ctx: GatewayContext,
    owned: Owned,
    { id, offset, last, arrival }: FilePiece & { readonly id: string; readonly arrival: ArrivingUpload },
  ): Promise<StoredFile | number | undefined> {
    const { store, clock } = this.#setup;
    const upload = await store.resume(owned.owner, id, clock.wall());
    if (upload === undefined) return undefined;
    if (upload === 'busy') throw busy();
    const file = new ArrivingFile(upload, upload);
    const suspend = async (): Promise<number> => (arrival.kept = await upload.suspend(file.head));
    const discard = async (): Promise<void> => {
      arrival.kept = 0;
      await upload.discard();
    };
    try {
      arrival.bytes = upload.received;
      if (offset !== upload.received) throw wrongOffset(offset, upload.received);
      const quota = await quotaOf(this.#setup, owned, arrival);
      quota.take(upload.received + (announcedBytes(ctx.exchange.request) ?? 0));
      const read = filePieces(ctx, this.#setup);
      for (let piece = await read(); piece; piece = await read()) await file.write(piece, quota);
      if (!last) return await suspend();
      const { filename, declared } = upload;
      const named = { filename, declared, purpose: 'user_data' } as const;
      const stored = await file.publish(named, owned, clock.wall() + owned.limits.ttlMs);
      arrival.kept = stored.bytes;
      return stored;
    } catch (error) {
      const isFinal = error instanceof GatewayError && FINAL.has(error.code) && error.param !== OFFSET;
      await (isFinal ? discard() : suspend().catch(discard));
      throw error;
    }
  }

  /** False: there is no such upload. */
  async cancel(owner: string, id: string): Promise<boolean> {
    const { store, clock } = this.#setup;
    const upload = await store.resume(owner, id, clock.wall());
    if (upload === 'busy') throw busy();
    await upload?.discard();
    if (upload) this.#setup.arrivals.removed(owner, id);
    return upload !== undefined;
  }
}

const busy = (): GatewayError =>
  new GatewayError('busy', 'Another request is bringing a piece of this upload.', { retryAfterMs: RETRY_AFTER_MS });

const tooManyUnfinished = (uploads: number): GatewayError =>
  new GatewayError(
    'file_quota_exceeded',
    `This key has ${uploads} unfinished uploads (files.unfinished_uploads). Finish or cancel some; one without progress ends after an hour.`,
  );

const ignore = (): void => {};

const OFFSET = 'x-goog-upload-offset';

const wrongOffset = (offset: number, received: number): GatewayError =>
  new GatewayError('invalid_value', `The offset is ${offset}, but ${received} bytes of the file are stored.`, {
    param: OFFSET,
  });

function checkUnit({ exchange }: GatewayContext, last: boolean): void {
  const length = announcedBytes(exchange.request) ?? 0;
  if (last || length % PIECE_UNIT === 0) return;
  throw new GatewayError(
    'invalid_value',
    `Every piece except the last must be a multiple of ${PIECE_UNIT} bytes, and this one has ${length}.`,
    { param: 'content-length' },
  );
}
