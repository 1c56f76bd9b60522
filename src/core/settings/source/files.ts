import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { StoredObjects } from './stored-objects.ts';

/** Settings are far smaller than a megabyte; the bound stops a wrong path (a log, a disk image) from filling the memory. */
export const MAX_FILE_BYTES = 1024 * 1024;

export type FileRead = { readonly text: string } | Unread;
export type FolderRead = { readonly names: readonly string[]; readonly folders: readonly string[] } | Unread;
type Unread = { readonly missing: true } | { readonly problem: string };

/** The source of settings files: the disk, or contents that another process has sent. */
export interface SettingsFiles {
  /** @param most bytes; default: those of a settings file */
  read(path: string, most?: number): Promise<FileRead>;
  /** Names in a folder, and those of them that are folders. */
  list(folder: string): Promise<FolderRead>;
  /** The objects of the state store beside the files. Undefined in commands that only read files and open no store. */
  stored?(): StoredObjects | undefined;
}

export const diskFiles: SettingsFiles = {
  async read(path, most = MAX_FILE_BYTES) {
    try {
      return await readBounded(path, most);
    } catch (error) {
      return errorCode(error) === 'ENOTDIR' ? { missing: true } : unread(error);
    }
  },
  async list(folder) {
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory());
      return { names: entries.map(({ name }) => name), folders: folders.map(({ name }) => name) };
    } catch (error) {
      return errorCode(error) === 'ENOTDIR' ? { problem: 'is a file, not a folder' } : unread(error);
    }
  },
};

export const withStoredObjects = (files: SettingsFiles, stored: () => StoredObjects): SettingsFiles => ({
  read: (path) => files.read(path),
  list: (folder) => files.list(folder),
  stored,
});

/** The files and folders that a load has read, by path. */
export interface ReadPlaces {
  readonly files: Map<string, FileRead>;
  readonly folders: Map<string, FolderRead>;
}

/** Serves recorded contents: a worker loads the same contents as the primary, even if the disk has changed since. */
export const sentFiles = (current: () => ReadPlaces): SettingsFiles => ({
  read: async (path) => current().files.get(path) ?? { missing: true },
  list: async (folder) => current().folders.get(folder) ?? { missing: true },
});

/** Files by path, for tests. */
export const memoryFiles = (texts: Readonly<Record<string, string>>): SettingsFiles => ({
  read: async (path) => (Object.hasOwn(texts, path) ? toText(Buffer.from(texts[path]!)) : { missing: true }),
  list: async (folder) => {
    const inside = Object.keys(texts).filter((path) => path.startsWith(`${folder}/`));
    const parts = inside.map((path) => path.slice(folder.length + 1).split('/'));
    const names = (of: readonly string[][]) => [...new Set(of.map(([name = '']) => name))];
    return parts.length > 0
      ? { names: names(parts), folders: names(parts.filter(({ length }) => length > 1)) }
      : { missing: true };
  },
});

/** Reads regular files only: opening a pipe could block for ever, and a device never ends. */
async function readBounded(path: string, most: number): Promise<FileRead> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { problem: 'is not a regular file' };
    if (stat.size > most) return tooLarge(most);
    return toText(await file.readFile(), most);
  } finally {
    await file.close();
  }
}

const tooLarge = (most: number): FileRead => ({ problem: `is larger than ${most} bytes` });

function toText(bytes: Buffer, most = MAX_FILE_BYTES): FileRead {
  if (bytes.length > most) return tooLarge(most);
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'is not UTF-8 text' };
  }
}

function unread(error: unknown): Unread {
  const code = errorCode(error);
  return code === 'ENOENT' ? { missing: true } : { problem: `cannot be read (${code})` };
}

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'error';
