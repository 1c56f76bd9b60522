import { FILE_PURPOSES, isObject, type StoredFile } from '../../../core/kernel/index.ts';
import type { FileDetails, FileEntry, FileStore, FileUpload, SweptStore } from '../file-store.ts';
import { createdAt, isFileId } from '../file-ids.ts';
import { MAX_PAGES, PAGE, PAGE_BYTES } from '../bucket-api.ts';
import { BucketStore, inOrder } from '../bucket-store.ts';
import { GcsApi, type GcsSetup } from './gcs-api.ts';
import { GcsPieces, isState, receivedBy } from './gcs-pieces.ts';
import { GcsUpload } from './gcs-upload.ts';

/** An object without metadata is of an upload that did not end. Its last step takes seconds. */
const REMAINS_MS = 60 * 60 * 1000;

const FIELDS = 'items(name,size,contentType,timeCreated,metadata),nextPageToken';

/** An object of the store. `details` is undefined until its upload is published. */
interface StoredObject {
  readonly name: string;
  readonly id: string;
  readonly bytes: number;
  readonly updatedAt: number;
  readonly type: unknown;
  readonly details: FileDetails | undefined;
}

/** Files in a bucket: `PREFIX OWNER/ID.EXTENSION`. Gemini infers the type of some addresses from the extension. */
export class GcsFileStore extends BucketStore implements FileStore {
  readonly #setup: GcsSetup;
  readonly #api: GcsApi;
  protected readonly pieces: GcsPieces;

  constructor(setup: GcsSetup) {
    super();
    this.#setup = setup;
    this.#api = new GcsApi(setup);
    this.pieces = new GcsPieces({
      api: this.#api,
      now: () => setup.clock.wall(),
      nameOf: (owner, id) => `${setup.prefix}${owner}/${id}`,
      begin: (owner, id, filename) => this.#begin(owner, id, filename),
      publish: (owner, of, details, admit) => this.#publish(owner, of, { details, admit }),
      remove: (name) => this.#delete(name),
    });
  }

  async entries(owner: string): Promise<readonly FileEntry[]> {
    const files: StoredFile[] = [];
    for await (const object of this.#objects(`${owner}/`)) {
      const file = this.#fileOf(object);
      if (file) files.push(file);
    }
    return inOrder(files);
  }

  async details(owner: string, entry: FileEntry): Promise<StoredFile | undefined> {
    return 'uri' in entry ? (entry as StoredFile) : this.find(owner, entry.id);
  }

  async find(owner: string, id: string): Promise<StoredFile | undefined> {
    for await (const object of this.#objects(`${owner}/${id}`)) if (object.details) return this.#fileOf(object);
    return undefined;
  }

  read(_: string, file: StoredFile): AsyncIterable<Buffer> {
    const name = (file.uri ?? '').slice(`gs://${this.#setup.bucket}/`.length);
    return this.#api.ranges(this.#api.objectUrl(name, '?alt=media'), file);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    for await (const { name, details } of this.#objects(`${owner}/${id}`)) if (details) return this.#delete(name);
    return false;
  }

  async begin(owner: string, id: string, filename: string): Promise<FileUpload> {
    const { name, session } = await this.#begin(owner, id, filename);
    return new GcsUpload({
      api: this.#api,
      session,
      publish: (bytes, details, admit) => this.#publish(owner, { name, id, bytes }, { details, admit }),
      remove: () => this.#delete(name),
    });
  }

  async unfinished(owner: string): ReturnType<FileStore['unfinished']> {
    const uploads = [];
    for await (const { name, id, type } of this.#objects(`${owner}/`))
      if (isState(name)) uploads.push({ id, bytes: receivedBy(type) });
    return uploads;
  }

  async #begin(
    owner: string,
    id: string,
    filename: string,
  ): Promise<{ readonly name: string; readonly session: string }> {
    const name = `${this.#setup.prefix}${owner}/${id}${extensionOf(filename)}`;
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    const started = await this.#api.call(
      { method: 'POST', url: this.#api.uploadUrl(name), headers, body: '{}' },
      [200],
    );
    return { name, session: this.#api.sessionUrl(started) };
  }

  async sweep(now: number): Promise<SweptStore> {
    let [removed, files, all] = [0, 0, 0];
    for await (const { name, bytes, details, updatedAt } of this.#objects('')) {
      const isOver = details ? details.expiresAt <= now : now - updatedAt > REMAINS_MS;
      if (isOver) removed += (await this.#delete(name)) ? 1 : 0;
      else if (details) [files, all] = [files + 1, all + bytes];
    }
    return { removed, files, bytes: all };
  }

  /** Counted by other uploads since its object exists, and visible from here on. */
  async #publish(
    owner: string,
    { name, id, bytes }: Pick<StoredObject, 'name' | 'id' | 'bytes'>,
    { details, admit }: { readonly details: FileDetails; readonly admit: Parameters<FileUpload['publish']>[1] },
  ): Promise<StoredFile> {
    const sizes: number[] = [];
    for await (const object of this.#objects(`${owner}/`)) if (!isState(object.name)) sizes.push(object.bytes);
    admit(sizes);
    const { mime, filename, purpose, expiresAt } = details;
    const body = JSON.stringify({
      contentType: mime,
      metadata: { filename, purpose, expires: String(expiresAt) },
    });
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    await this.#api.call({ method: 'PATCH', url: this.#api.objectUrl(name), headers, body }, [200]);
    return { ...details, id, bytes, createdAt: createdAt(id), uri: this.#uriOf(name) };
  }

  async #delete(name: string): Promise<boolean> {
    const { status } = await this.#api.call({ method: 'DELETE', url: this.#api.objectUrl(name) }, [200, 204, 404]);
    return status !== 404;
  }

  async *#objects(prefix: string): AsyncGenerator<StoredObject> {
    let token = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const url = this.#api.listUrl({
        prefix: this.#setup.prefix + prefix,
        maxResults: String(PAGE),
        fields: FIELDS,
        ...(token !== '' && { pageToken: token }),
      });
      const { bytes } = await this.#api.call({ method: 'GET', url, maxBytes: PAGE_BYTES }, [200]);
      const json = this.#api.parseJson(bytes?.toString('utf8'));
      if (!isObject(json)) throw this.#api.failed('its listing is not an object');
      for (const item of Array.isArray(json['items']) ? (json['items'] as unknown[]) : []) {
        const object = readObject(item);
        if (object) yield object;
      }
      token = typeof json['nextPageToken'] === 'string' ? json['nextPageToken'] : '';
      if (token === '') return;
    }
  }

  #fileOf({ name, id, bytes, details }: StoredObject): StoredFile | undefined {
    return details && { ...details, id, bytes, createdAt: createdAt(id), uri: this.#uriOf(name) };
  }

  #uriOf(name: string): string {
    return `gs://${this.#setup.bucket}/${name}`;
  }
}

/** Letters and digits only: the name is a part of paths and addresses. */
function extensionOf(filename: string): string {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(filename)?.[1];
  return extension === undefined ? '' : `.${extension.toLowerCase()}`;
}

/** Undefined for objects that are not of this gateway. */
function readObject(item: unknown): StoredObject | undefined {
  if (!isObject(item) || typeof item['name'] !== 'string') return undefined;
  const { name, size, timeCreated, contentType, metadata } = item;
  const [id = ''] = name.slice(name.lastIndexOf('/') + 1).split('.');
  const bytes = Number(size);
  if (!isFileId(id) || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  return {
    name,
    id,
    bytes,
    updatedAt: Date.parse(String(timeCreated)),
    type: contentType,
    details: isObject(metadata) ? readDetails(metadata, contentType) : undefined,
  };
}

function readDetails(metadata: Readonly<Record<string, unknown>>, mime: unknown): FileDetails | undefined {
  const { filename, purpose: text, expires } = metadata;
  const purpose = FILE_PURPOSES.find((one) => one === text);
  const expiresAt = Number(expires);
  if (typeof filename !== 'string' || typeof mime !== 'string' || !purpose || !Number.isSafeInteger(expiresAt))
    return undefined;
  return { filename, mime, purpose, expiresAt };
}
