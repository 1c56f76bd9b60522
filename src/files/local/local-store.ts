import { open, mkdir, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredFile } from '../../plugin/index.ts';
import type { FileEntry, FileStore, FileUpload, SweptStore } from '../../state/file-store.ts';
import { createdAt } from '../file-ids.ts';
import { isAbandoned, isUnfinished, nameOf, partialName, pendingEntry, pendingName, readName } from './file-names.ts';
import { HEADER_BYTES, readHeader, writeHeader } from './header.ts';

/** Bytes that a reader holds at a time. */
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

  async sweep(now: number): Promise<SweptStore> {
    let [removed, files, bytes] = [0, 0, 0];
    for (const owner of await namesIn(this.#folder)) {
      const folder = join(this.#folder, owner);
      for (const name of await namesIn(folder)) {
        const entry = readName(name);
        const isOver = entry
          ? entry.expiresAt <= now
          : isUnfinished(name) && (await this.#isRemainder(folder, name, now));
        if (isOver) removed += (await removeIfThere(join(folder, name))) ? 1 : 0;
        else if (entry) [files, bytes] = [files + 1, bytes + entry.bytes];
      }
    }
    return { removed, files, bytes };
  }

  async #isRemainder(folder: string, name: string, now: number): Promise<boolean> {
    if (isAbandoned(name)) return true;
    const found = await stat(join(folder, name)).catch(() => undefined);
    return found !== undefined && now - found.mtimeMs > this.#remainsMs;
  }

  async #entry(owner: string, id: string): Promise<FileEntry | undefined> {
    const names = await namesIn(join(this.#folder, owner));
    const name = names.find((one) => one.startsWith(`${id}.`));
    return name === undefined ? undefined : readName(name);
  }
}

interface UploadPlace {
  readonly folder: string;
  readonly path: string;
  readonly id: string;
}

class LocalUpload implements FileUpload {
  readonly #place: UploadPlace;
  readonly #handle: FileHandle;
  #bytes = 0;
  /** The file's present name; undefined once it is visible or removed. */
  #path: string | undefined;

  constructor(place: UploadPlace, handle: FileHandle) {
    this.#place = place;
    this.#path = place.path;
    this.#handle = handle;
  }

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, HEADER_BYTES + this.#bytes);
      at += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }

  /** A file with a final name is complete and on disk: it is synced before it is renamed. */
  async publish(...[details, admit]: Parameters<FileUpload['publish']>): Promise<StoredFile> {
    const { folder, path, id } = this.#place;
    const { filename, mime, purpose } = details;
    await writeHeader(this.#handle, { filename, mime });
    await this.#handle.sync();
    await this.#handle.close();
    // Names hold whole seconds.
    const expiresAt = Math.floor(details.expiresAt / 1000) * 1000;
    const entry: FileEntry = { id, bytes: this.#bytes, expiresAt, purpose };
    // Counted before the others are read: of two uploads that end at once, at least one sees the other.
    const pending = join(folder, pendingName(nameOf(entry)));
    await rename(path, pending);
    this.#path = pending;
    const names = await namesIn(folder);
    admit(names.flatMap((name) => (readName(name) ?? pendingEntry(name))?.bytes ?? []));
    await rename(pending, join(folder, nameOf(entry)));
    this.#path = undefined;
    await syncFolder(folder);
    return { ...entry, filename, mime, createdAt: createdAt(id) };
  }

  async discard(): Promise<void> {
    const path = this.#path;
    this.#path = undefined;
    // Closing fails where it has been closed already, and the sweep removes what cannot be removed now.
    await this.#handle.close().catch(() => {});
    if (path !== undefined) await removeIfThere(path).catch(() => {});
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** The names in a folder; none if it does not exist. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function removeIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Without it, a crash of the machine may lose the new name (fsync(2)). Some file systems refuse it, and need none. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
