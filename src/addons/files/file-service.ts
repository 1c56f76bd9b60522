import { announcedBytes } from '../../../plugins/body/pieces.ts';
import type {
  Exchange,
  FileQuery,
  FileService,
  GatewayContext,
  StoredFile,
  UploadsInPieces,
} from '../../core/kernel/index.ts';
import { GatewayError, type Source } from '../../plugin/index.ts';
import type { FileEntry, FileSource } from './file-store.ts';
import { isFileId, ownerOf } from './file-ids.ts';
import { PieceReceiver } from './piece-receiver.ts';
import { receiveFile } from './receive-file.ts';
import { sourceOfPieces, storeFailure } from './store-failure.ts';
import type { FileServiceSetup, Owned } from './setup.ts';

const notFound = (id: string): GatewayError =>
  new GatewayError('file_not_found', `There is no file ${JSON.stringify(id.slice(0, 100))}, or it has expired.`);

const noUpload = (id: string): GatewayError =>
  new GatewayError('file_not_found', `There is no upload ${JSON.stringify(id.slice(0, 100))}, or it has expired.`, {
    param: 'upload_id',
  });

/** Files whose details are read at once: a page of thousands must not occupy all file descriptors, or take minutes in S3. */
const DETAILS = 8;

/** The files of callers in a store, within the limits of their keys. */
export class StoredFiles implements FileService, FileSource {
  readonly #setup: FileServiceSetup;
  readonly #pieces: PieceReceiver;

  constructor(setup: FileServiceSetup) {
    this.#setup = setup;
    this.#pieces = new PieceReceiver(setup);
  }

  get url(): string | undefined {
    return this.#setup.settings.url;
  }

  get inlineBytes(): number {
    return this.#setup.settings.inlineBytes;
  }

  readonly isFileId = (text: string): boolean => isFileId(text);
  readonly upload = (ctx: GatewayContext): Promise<StoredFile> =>
    this.#receive(ctx, async (owned) => {
      const file = await receiveFile(ctx, this.#setup, owned);
      this.#setup.changed(1, file.bytes);
      return file;
    });

  readonly inPieces: UploadsInPieces = {
    begin: (exchange, file) => guarded(async () => this.#pieces.begin(this.#owned(exchange), file)),
    add: (ctx, id, piece) =>
      this.#receive(ctx, async (owned) => {
        const added = isFileId(id) ? await this.#pieces.add(ctx, owned, { ...piece, id }) : undefined;
        // Its client may have missed the reply to the last piece.
        if (added === undefined) return this.#finished(ctx.exchange, id);
        if (typeof added !== 'number') this.#setup.changed(1, added.bytes);
        return added;
      }),
    received: (exchange, id) =>
      guarded(async () => {
        const { store, clock } = this.#setup;
        const owner = ownerOf(keyOf(exchange));
        const bytes = isFileId(id) ? await store.received(owner, id, clock.wall()) : undefined;
        return bytes ?? this.#finished(exchange, id);
      }),
    cancel: (exchange, id) =>
      guarded(async () => {
        const owner = ownerOf(keyOf(exchange));
        if (!isFileId(id) || !(await this.#pieces.cancel(owner, id))) throw noUpload(id);
      }),
  };

  async list(exchange: Exchange, query: FileQuery): ReturnType<FileService['list']> {
    const owner = ownerOf(keyOf(exchange));
    const { store } = this.#setup;
    return guarded(async () => {
      const { page, hasMore } = pageOf(await this.#live(owner), query);
      const files: StoredFile[] = [];
      for (let at = 0; at < page.length; at += DETAILS) {
        exchange.cancellation.throwIfCancelled();
        const read = page.slice(at, at + DETAILS).map((entry) => store.details(owner, entry));
        for (const file of await Promise.all(read)) if (file) files.push(file);
      }
      return { files, hasMore };
    });
  }

  find(exchange: Exchange, id: string): Promise<StoredFile>;
  find(keyId: string | undefined, id: string): Promise<StoredFile>;
  async find(of: Exchange | string | undefined, id: string): Promise<StoredFile> {
    const owner = ownerOf(keyOf(of));
    const file = isFileId(id) ? await guarded(() => this.#setup.store.find(owner, id)) : undefined;
    if (!file || file.expiresAt <= this.#setup.clock.wall()) throw notFound(id);
    return file;
  }

  readonly content = (exchange: Exchange, file: StoredFile): Source =>
    sourceOfPieces(this.#setup.store.read(ownerOf(keyOf(exchange)), file));

  async readWhole(keyId: string | undefined, file: StoredFile): Promise<Buffer> {
    return guarded(async () => {
      // Allocated once: joining pieces would need the memory twice.
      const whole = Buffer.alloc(file.bytes);
      let at = 0;
      for await (const piece of this.#setup.store.read(ownerOf(keyOf(keyId)), file)) {
        if (at + piece.length > whole.length)
          throw new Error(`the stored file ${file.id} is longer than its listing says`);
        at += piece.copy(whole, at);
      }
      return whole.subarray(0, at);
    });
  }

  async remove(exchange: Exchange, id: string): Promise<void> {
    const { bytes } = await this.find(exchange, id);
    const owner = ownerOf(keyOf(exchange));
    if (!(await guarded(() => this.#setup.store.remove(owner, id)))) throw notFound(id);
    this.#setup.arrivals.removed(owner, id);
    this.#setup.changed(-1, bytes);
  }

  /** Runs while a request brings a file, or a piece of one. */
  async #receive<T>(ctx: GatewayContext, work: (owned: Owned) => Promise<T>): Promise<T> {
    const { uploads, settings } = this.#setup;
    const owned = this.#owned(ctx.exchange);
    const end = uploads.begin(owned.owner, settings.uploads);
    try {
      const refusal = this.#reserveUpload(ctx);
      if (refusal) throw refusal;
      return await work(owned);
    } catch (error) {
      throw storeFailure(error);
    } finally {
      end();
    }
  }

  readonly #finished = async (exchange: Exchange, id: string): Promise<StoredFile> =>
    this.find(exchange, id).catch((error: unknown) => {
      throw error instanceof GatewayError && error.code === 'file_not_found' ? noUpload(id) : error;
    });

  #owned(exchange: Exchange): Owned {
    const owner = ownerOf(keyOf(exchange));
    const limits = { ...this.#setup.settings.limits, ...exchange.caller?.files };
    return { owner, limits, present: () => this.#live(owner) };
  }

  /** A form that is smaller than a piece fills only a part of its memory. */
  #reserveUpload({ exchange }: GatewayContext): GatewayError | undefined {
    const { store, reserve } = this.#setup;
    const bytes = Math.min(store.uploadBytes, announcedBytes(exchange.request) ?? Infinity);
    return bytes > 0 ? reserve(exchange, bytes) : undefined;
  }

  async #live(owner: string): Promise<readonly FileEntry[]> {
    const now = this.#setup.clock.wall();
    return (await this.#setup.store.entries(owner)).filter(({ expiresAt }) => expiresAt > now);
  }
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeFailure(error);
  }
}

/** Files belong to a key, so a chain without `auth` cannot have any. */
function keyOf(of: Exchange | string | undefined): string {
  const keyId = typeof of === 'object' ? of.caller?.keyId : of;
  if (keyId !== undefined) return keyId;
  throw new GatewayError(
    'missing_api_key',
    'Files belong to a gateway key, and this request has none: send it in `x-gateway-api-key`.',
  );
}

/** @param entries in the order of their ids */
function pageOf(
  entries: readonly FileEntry[],
  { purpose, limit, after, before, newestFirst }: FileQuery,
): { readonly page: readonly FileEntry[]; readonly hasMore: boolean } {
  const ordered = newestFirst ? entries.toReversed() : entries;
  const isBehind = (id: string, cursor: string): boolean => (newestFirst ? id < cursor : id > cursor);
  const rest = ordered.filter(
    (entry) =>
      (purpose === undefined || entry.purpose === purpose) &&
      (after === undefined || isBehind(entry.id, after)) &&
      (before === undefined || (entry.id !== before && !isBehind(entry.id, before))),
  );
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return { page, hasMore: rest.length > page.length };
}
