import { open, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredFile } from '../../../core/kernel/index.ts';
import type { ContinuedUpload, FileEntry, FileStore, FileUpload, SweptStore } from '../file-store.ts';
import { createdAt, isOver } from '../file-ids.ts';
import { isAbandoned, isUnfinished, nameOf, partialName, readName, uploadId } from './file-names.ts';
import { namesIn, openIfThere, removeIfThere } from './folder.ts';
import { HEADER_BYTES, readHeader } from './header.ts';
import { LocalPieces } from './local-pieces.ts';
import { LocalUpload } from './local-upload.ts';

const PIECE = 256 * 1024;

/**
 * Files in a folder of this machine, one folder per owner. Each file is one file on disk, its details in a header of fixed length, so
 * that one `rename` makes it visible and one `unlink` removes it. Any number of processes may use the folder.
 */
export class LocalFileStore implements FileStore {
  readonly uploadBytes = 0;
  readonly #folder: string;
  readonly #remainsMs: number;

  /** @param remainsMs an unfinished file that was not written for this long belongs to no upload */
  constructor(folder: string, remainsMs: number) {
    this.#folder = folder;
    this.#remainsMs = remainsMs;
  }

  async entries(owner: string): Promise<readonly FileEntry[]> {
    const names = await namesIn(join(this.#folder, owner));
    return names.flatMap((name) => readName(name) ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async details(owner: string, entry: FileEntry): Promise<StoredFile | undefined> {
    const handle = await openIfThere(join(this.#folder, owner, nameOf(entry)));
    if (!handle) return undefined;
    try {
      return { ...entry, ...(await readHeader(handle)), createdAt: createdAt(entry.id) };
    } finally {
      await handle.close();
    }
  }

  async find(owner: string, id: string): Promise<StoredFile | undefined> {
    const entry = await this.#entry(owner, id);
    return entry && this.details(owner, entry);
  }

  async *read(owner: string, file: StoredFile): AsyncIterable<Buffer> {
    const handle = await open(join(this.#folder, owner, nameOf(file)), 'r');
    try {
      for (let at = 0; at < file.bytes;) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE, file.bytes - at));
        const { bytesRead } = await handle.read(piece, 0, piece.length, HEADER_BYTES + at);
        if (bytesRead === 0) throw new Error(`the stored file ${file.id} is shorter than its name says`);
        at += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const entry = await this.#entry(owner, id);
    return entry !== undefined && removeIfThere(join(this.#folder, owner, nameOf(entry)));
  }

  async begin(owner: string, id: string): Promise<FileUpload> {
    const folder = join(this.#folder, owner);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, partialName(id));
    return new LocalUpload({ folder, path, id }, await open(path, 'wx', 0o600));
  }

  readonly beginInPieces = (...[owner, id, of]: Parameters<FileStore['beginInPieces']>): Promise<void> =>
    this.#pieces(owner).begin(id, of);
  readonly resume = (owner: string, id: string, now: number): Promise<ContinuedUpload | 'busy' | undefined> =>
    this.#pieces(owner).resume(id, now);
  readonly received = (owner: string, id: string, now: number): Promise<number | undefined> =>
    this.#pieces(owner).received(id, now);
  readonly unfinished = (owner: string): ReturnType<FileStore['unfinished']> => this.#pieces(owner).unfinished();

  async sweep(now: number): Promise<SweptStore> {
    let [removed, files, bytes] = [0, 0, 0];
    for (const owner of await namesIn(this.#folder)) {
      const folder = join(this.#folder, owner);
      for (const name of await namesIn(folder)) {
        const entry = readName(name);
        const ends = entry
          ? entry.expiresAt <= now
          : isUnfinished(name) && (await this.#isRemainder(folder, name, now));
        if (ends) removed += (await removeIfThere(join(folder, name))) ? 1 : 0;
        else if (entry) [files, bytes] = [files + 1, bytes + entry.bytes];
      }
    }
    return { removed, files, bytes };
  }

  async #isRemainder(folder: string, name: string, now: number): Promise<boolean> {
    if (isAbandoned(name)) return true;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found) return false;
    const upload = uploadId(name);
    return upload === undefined ? now - found.mtimeMs > this.#remainsMs : isOver(upload, found.mtimeMs, now);
  }

  readonly #pieces = (owner: string): LocalPieces => new LocalPieces(join(this.#folder, owner));

  async #entry(owner: string, id: string): Promise<FileEntry | undefined> {
    const name = (await namesIn(join(this.#folder, owner))).find((one) => one.startsWith(`${id}.`));
    return name === undefined ? undefined : readName(name);
  }
}
