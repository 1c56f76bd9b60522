import { formatDiagnostics } from '../../settings/problems/diagnostic.ts';
import type { Output } from '../output.ts';
import { shellWord } from '../shell-word.ts';
import type { FileEdit } from './edit-keys.ts';
import type { Environment } from '../../settings/read/references.ts';
import { readKeys, type ReadKeys, type RefusedKeys } from './keys-file.ts';
import { CannotReplace, replaceFile } from './replace-file.ts';

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
