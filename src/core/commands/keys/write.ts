import { formatDiagnostics } from '../../settings/source/diagnostic.ts';
import { shellWord, type Output } from '../terminal/output.ts';
import type { FileEdit } from './edit-keys.ts';
import type { Environment } from '../../settings/values/references.ts';
import { readKeys, type ReadKeys, type RefusedKeys } from './keys-file.ts';
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

export interface KeysCommandOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
  readonly now?: number;
}

/** Prints the errors. Exit code 1: errors; 2: the folder does not exist. */
export function refuse({ diagnostics, folderExists }: RefusedKeys, { err }: Output): 1 | 2 {
  err(formatDiagnostics(diagnostics, 'pretty'));
  return folderExists ? 1 : 2;
}

/** Replaces keys.yaml with the edited text if that is valid. False: it was not replaced, and the reason is printed. */
export async function writeKeys(keys: ReadKeys, edit: FileEdit, options: KeysCommandOptions): Promise<boolean> {
  const { dir, env, now = Date.now(), err } = options;
  if ('problem' in edit) {
    err(`${keys.path} was not changed: ${edit.problem}\n`);
    return false;
  }
  const result = await readKeys(dir, { env, now, text: edit.text });
  if ('diagnostics' in result) {
    refuse(result, options);
    err(`${keys.path} was not changed: the change would make it invalid\n`);
    return false;
  }
  try {
    await replaceFile(keys.path, edit.text, keys.text);
  } catch (error) {
    if (!(error instanceof CannotReplace)) throw error;
    err(`${keys.path} was not changed: ${error.message}\n`);
    return false;
  }
  return true;
}

/** Describes when a running gateway reads the change. */
export function whatNext({ reload, elsewhere, path }: ReadKeys, dir: string): string {
  const signal = 'send it SIGHUP: kill -HUP PID';
  const next =
    reload?.watch === false
      ? `A running gateway reads ${path} when you ${signal}\n`
      : `A running gateway that watches its files (reload.watch, on by default) reads ${path} within moments; otherwise ${signal}\n`;
  if (elsewhere.length === 0) return next;
  return `${next}But other files in ${dir} have errors, as read from here (${elsewhere[0]!.file}:${elsewhere[0]!.line} …). A gateway that reads the same errors keeps its old settings until they are fixed: gatehouse validate --configs ${shellWord(dir)}\n`;
}
