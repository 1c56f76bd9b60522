import { mkdir, open, rename, stat, utimes, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isOver } from '../file-ids.ts';
import type { ContinuedUpload, FileStore, UnfinishedUpload } from '../file-store.ts';
import { HEAD_BYTES } from '../file-type.ts';
import { isAbandoned, isPartialOf, partialName, unfinishedId, uploadName } from './file-names.ts';
import { ifThere, namesIn, removeIfThere } from './folder.ts';
import { HEADER_BYTES, readHeader, writeHeader, type Header } from './header.ts';
import { LocalUpload, type UploadPlace } from './local-upload.ts';

/**
 * The uploads in pieces of one owner. Between two requests an upload is a file with its header, named by its id. A request takes it by
 * renaming it, so that one request of one process continues it. Whichever process gets the next piece finds it.
 */
export class LocalPieces {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(...[id, { filename, declared }]: DropOwner<FileStore['beginInPieces']>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const handle = await open(join(this.#folder, uploadName(id)), 'wx', 0o600);
    try {
      await writeHeader(handle, { filename, mime: declared });
    } finally {
      await handle.close();
    }
  }

  async resume(id: string, now: number): Promise<ContinuedUpload | 'busy' | undefined> {
    const found = await this.#find(id);
    if (!found || isOver(id, found.touchedAt, now)) return undefined;
    const { name: from } = found;
    if (from !== uploadName(id) && !isAbandoned(from)) return 'busy';
    const place = { folder: this.#folder, path: join(this.#folder, partialName(id)), id };
    // Another request may have taken it in the meantime.
    const taken = await ifThere(rename(join(this.#folder, from), place.path).then(() => true));
    if (!taken) return 'busy';
    const handle = await open(place.path, 'r+');
    try {
      const header = await readHeader(handle);
      const { size } = await handle.stat();
      const head = Buffer.alloc(Math.min(HEAD_BYTES, size - HEADER_BYTES));
      await handle.read(head, 0, head.length, HEADER_BYTES);
      return new ContinuedLocalUpload(place, handle, { header, head, received: size - HEADER_BYTES });
    } catch (error) {
      await handle.close();
      await removeIfThere(place.path);
      throw error;
    }
  }

  async received(id: string, now: number): Promise<number | undefined> {
    const found = await this.#find(id);
    return found && !isOver(id, found.touchedAt, now) ? found.bytes : undefined;
  }

  async unfinished(): Promise<readonly UnfinishedUpload[]> {
    const names = await namesIn(this.#folder);
    const uploads: UnfinishedUpload[] = [];
    for (const name of names) {
      const id = unfinishedId(name);
      const found = id === undefined ? undefined : await ifThere(stat(join(this.#folder, name)));
      if (id !== undefined && found) uploads.push({ id, bytes: Math.max(0, found.size - HEADER_BYTES) });
    }
    return uploads;
  }

  /** Looks again for a file that another request may be renaming: a reading of a folder can miss both names. */
  async #find(
    id: string,
  ): Promise<{ readonly name: string; readonly bytes: number; readonly touchedAt: number } | undefined> {
    for (let look = 0; look < LOOKS; look += 1) {
      const name = (await namesIn(this.#folder)).find((one) => one === uploadName(id) || isPartialOf(one, id));
      const found = name === undefined ? undefined : await ifThere(stat(join(this.#folder, name)));
      if (name !== undefined && found)
        return { name, bytes: Math.max(0, found.size - HEADER_BYTES), touchedAt: found.mtimeMs };
    }
    return undefined;
  }
}

const LOOKS = 3;

type DropOwner<F> = F extends (owner: string, ...rest: infer R) => unknown ? R : never;

class ContinuedLocalUpload extends LocalUpload implements ContinuedUpload {
  readonly filename: string;
  readonly declared: string;
  readonly received: number;
  readonly head: Buffer;
  readonly #later: string;

  constructor(
    place: UploadPlace,
    handle: FileHandle,
    { header, head, received }: { readonly header: Header; readonly head: Buffer; readonly received: number },
  ) {
    super(place, handle, received);
    this.filename = header.filename;
    this.declared = header.mime;
    this.received = received;
    this.head = head;
    this.#later = join(place.folder, uploadName(place.id));
  }

  async suspend(): Promise<number> {
    const bytes = await this.leaveAs(this.#later);
    // A request without bytes renews the time too.
    const now = new Date();
    await utimes(this.#later, now, now).catch(() => {});
    return bytes;
  }
}
