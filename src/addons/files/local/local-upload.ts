import { rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredFile } from '../../../core/kernel/index.ts';
import type { FileEntry, FileUpload } from '../file-store.ts';
import { createdAt } from '../file-ids.ts';
import { nameOf, pendingEntry, pendingName, readName } from './file-names.ts';
import { namesIn, removeIfThere, syncFolder } from './folder.ts';
import { HEADER_BYTES, writeHeader } from './header.ts';

export interface UploadPlace {
  readonly folder: string;
  readonly path: string;
  readonly id: string;
}

export class LocalUpload implements FileUpload {
  readonly #place: UploadPlace;
  readonly #handle: FileHandle;
  #bytes: number;
  /** The file's present name; undefined once it is visible or removed. */
  #path: string | undefined;

  /** @param bytes that an earlier request has stored */
  constructor(place: UploadPlace, handle: FileHandle, bytes = 0) {
    this.#bytes = bytes;
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
    admit((await namesIn(folder)).flatMap((name) => (readName(name) ?? pendingEntry(name))?.bytes ?? []));
    await rename(pending, join(folder, nameOf(entry)));
    this.#path = undefined;
    await syncFolder(folder);
    return { ...entry, filename, mime, createdAt: createdAt(id) };
  }

  /** Returns the bytes that are stored. The file gets another name, under which any process can find it. */
  protected async leaveAs(path: string): Promise<number> {
    const current = this.#path;
    this.#path = undefined;
    await this.#handle.close();
    if (current !== undefined) await rename(current, path);
    return this.#bytes;
  }

  async discard(): Promise<void> {
    const path = this.#path;
    this.#path = undefined;
    // Closing fails where it has been closed already, and the sweep removes what cannot be removed now.
    await this.#handle.close().catch(() => {});
    if (path !== undefined) await removeIfThere(path).catch(() => {});
  }
}
