import { open, readdir, unlink, type FileHandle } from 'node:fs/promises';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Undefined where the file or its folder does not exist. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The names in a folder; none if it does not exist. */
export const namesIn = async (folder: string): Promise<readonly string[]> => (await ifThere(readdir(folder))) ?? [];

export const openIfThere = (path: string): Promise<FileHandle | undefined> => ifThere(open(path, 'r'));

export const removeIfThere = async (path: string): Promise<boolean> =>
  (await ifThere(unlink(path).then(() => true))) ?? false;

/** Without it, a crash of the machine may lose the new name (fsync(2)). Some file systems refuse it, and need none. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
