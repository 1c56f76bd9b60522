import { UPLOAD_LIFE_MS, type StoredFile } from '../../../core/kernel/index.ts';
import { totalIn } from '../bucket-api.ts';
import { BucketStore, inOrder } from '../bucket-store.ts';
import { createdAt, isOver } from '../file-ids.ts';
import type { FileEntry, FileStore, FileUpload, SweptStore } from '../file-store.ts';
import { fileName, pendingName, readObjectName } from './object-names.ts';
import { S3Api, type S3Setup } from './s3-api.ts';
import { isUploadId, S3Upload } from './s3-upload.ts';
import { elementsOf, textOf } from './xml.ts';
import { S3Pieces } from './s3-pieces.ts';

/** Parts and objects that are unfinished so long after their beginning belong to no upload; clocks may differ by minutes. */
const REMAINS_MS = UPLOAD_LIFE_MS + 60 * 60 * 1000;
/** An error of the store is longer than the byte that is asked for. */
const LOOK_BYTES = 16 * 1024;

/**
 * Files in a bucket of S3, one object a file. Names of objects have what a listing shows, their metadata the rest. The metadata of an
 * object are those of its beginning, before the form of the file is known, so a copy within the bucket makes it visible.
 */
export class S3FileStore extends BucketStore implements FileStore {
  readonly #setup: S3Setup;
  readonly #api: S3Api;
  protected readonly pieces: S3Pieces;

  constructor(setup: S3Setup) {
    super();
    this.#setup = setup;
    this.#api = new S3Api(setup);
    this.pieces = new S3Pieces({ api: this.#api, publish: (...args) => this.#publish(...args) });
  }

  entries(owner: string): Promise<readonly FileEntry[]> {
    return this.#files(`${owner}/`);
  }

  async details(owner: string, entry: FileEntry): Promise<StoredFile | undefined> {
    const url = this.#api.url(fileName(owner, entry));
    const look = { method: 'GET', url, headers: { range: 'bytes=0-0' }, maxBytes: LOOK_BYTES } as const;
    const { status, headers } = await this.#api.call(look, [200, 206, 404]);
    if (status === 404) return undefined;
    if ((totalIn(headers) ?? entry.bytes) !== entry.bytes)
      throw this.#api.failed(`the object of ${entry.id} is not as long as its listing says`);
    const { 'x-amz-meta-filename': name, 'content-type': mime } = headers;
    if (name === undefined || mime === undefined)
      throw this.#api.failed(`the object of ${entry.id} has lost its details`);
    const filename = Buffer.from(name, 'base64url').toString('utf8');
    return { ...entry, filename, mime, createdAt: createdAt(entry.id) };
  }

  async find(owner: string, id: string): Promise<StoredFile | undefined> {
    const [entry] = await this.#files(`${owner}/${id}.`);
    return entry && this.details(owner, entry);
  }

  read(owner: string, file: StoredFile): AsyncIterable<Buffer> {
    return this.#api.ranges(this.#api.url(fileName(owner, file)), file);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const files = await this.#files(`${owner}/${id}.`);
    for (const entry of files) await this.#api.remove(fileName(owner, entry));
    return files.length > 0;
  }

  async begin(owner: string, id: string): Promise<FileUpload> {
    const name = pendingName(owner, id);
    return new S3Upload({
      api: this.#api,
      name,
      publish: (bytes, ...args) => this.#publish(owner, { id, bytes }, ...args),
      remove: () => this.#api.remove(name),
    });
  }

  async unfinished(owner: string): ReturnType<FileStore['unfinished']> {
    const uploads = new Map<string, number>();
    for await (const { is } of this.#api.objects(`${owner}/`))
      if (is.kind === 'state') uploads.set(is.id, Math.max(is.received, uploads.get(is.id) ?? 0));
    return [...uploads].map(([id, bytes]) => ({ id, bytes }));
  }

  async sweep(now: number): Promise<SweptStore> {
    let [removed, files, all] = [0, 0, 0];
    for await (const { name, bytes, modifiedAt, is } of this.#api.objects('')) {
      if (is.kind === 'file' ? is.expiresAt <= now : isRemainder(is.id, now) || isIdle(is, modifiedAt, now)) {
        await this.#api.remove(name);
        removed += 1;
      } else if (is.kind === 'file') [files, all] = [files + 1, all + bytes];
    }
    return { removed: removed + (await this.#sweepParts(now)), files, bytes: all };
  }

  /** Counted by other uploads since its object exists, and visible from here on. */
  async #publish(
    owner: string,
    { id, bytes }: Pick<StoredFile, 'id' | 'bytes'>,
    ...[details, admit]: Parameters<FileUpload['publish']>
  ): Promise<StoredFile> {
    const sizes = new Map<string, number>();
    for await (const { is, bytes: size } of this.#api.objects(`${owner}/`))
      if (is.kind !== 'state') sizes.set(is.id, size);
    if (sizes.get(id) !== bytes) throw this.#api.failed(`the object of ${id} is not as long as what was sent`);
    admit([...sizes.values()]);
    const file = { ...details, id, bytes, createdAt: createdAt(id) };
    const [pending, name] = [pendingName(owner, id), fileName(owner, file)];
    const filename = Buffer.from(details.filename).toString('base64url');
    try {
      await this.#api.copy(pending, name, { 'content-type': details.mime, 'x-amz-meta-filename': filename });
    } catch (error) {
      await this.#api.remove(name).catch(() => {});
      throw error;
    }
    await this.#api.remove(pending).catch(() => {});
    return file;
  }

  async #files(start: string): Promise<readonly FileEntry[]> {
    const files: FileEntry[] = [];
    for await (const { bytes, is } of this.#api.objects(start)) {
      if (is.kind === 'file') files.push({ id: is.id, bytes, purpose: is.purpose, expiresAt: is.expiresAt });
    }
    return inOrder(files);
  }

  /** Ends multipart uploads that no process continues: no listing of objects shows their parts, and they cost money. */
  async #sweepParts(now: number): Promise<number> {
    const { prefix } = this.#setup;
    const xml = await this.#api.list({ uploads: '', prefix }, 'ListMultipartUploadsResult');
    let removed = 0;
    for (const item of elementsOf(xml, 'Upload')) {
      const [key = '', uploadId] = [textOf(item, 'Key'), textOf(item, 'UploadId')];
      const is = key.startsWith(prefix) ? readObjectName(key) : undefined;
      if (!is || !isRemainder(is.id, now) || !isUploadId(uploadId)) continue;
      await this.#api.remove(key.slice(prefix.length), { uploadId });
      removed += 1;
    }
    return removed;
  }
}

const isRemainder = (id: string, now: number): boolean => now - createdAt(id) > REMAINS_MS;

const isIdle = (is: { readonly kind: string; readonly id: string }, modifiedAt: number, now: number): boolean =>
  is.kind === 'state' && isOver(is.id, modifiedAt, now);
