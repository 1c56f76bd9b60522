import { randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The file was not replaced and is unchanged. */
export class CannotReplace extends Error {}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Replaces the file's content atomically: readers see the old or the new text, never a part. The new file is written
 * beside the old one (a rename is atomic only within a file system), is synced to disk first, and keeps mode and owner,
 * or the gateway may not be able to read it. A symbolic link stays: its target is replaced.
 * @param expected the current content as settings are read, without a byte order mark
 */
export async function replaceFile(path: string, text: string, expected: string): Promise<void> {
  try {
    const target = await realpath(path);
    const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
    const old = await stat(target);
    const file = await open(temporary, 'wx', 0o600);
    try {
      const current = await readFile(target, 'utf8');
      const mark = current.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
      await fill(file, mark + text, old);
      // As late as possible: a change between this read and the rename is lost.
      if ((await readFile(target, 'utf8')) !== mark + expected)
        throw new CannotReplace('another process has changed it in the meantime; try again');
      await rename(temporary, target);
    } catch (error) {
      await unlink(temporary);
      throw error;
    }
  } catch (error) {
    if (error instanceof CannotReplace || !(error instanceof Error) || !('code' in error)) throw error;
    throw new CannotReplace(`it cannot be replaced (${String(error.code)})`, { cause: error });
  }
}

async function fill(
  file: FileHandle,
  text: string,
  old: { readonly mode: number; readonly uid: number; readonly gid: number },
): Promise<void> {
  try {
    await file.writeFile(text);
    const made = await file.stat();
    // Before the mode: changing the owner clears some mode bits.
    if (made.uid !== old.uid || made.gid !== old.gid) await file.chown(old.uid, old.gid);
    await file.chmod(old.mode & 0o7777);
    await file.sync();
  } finally {
    await file.close();
  }
}
