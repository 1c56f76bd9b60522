import { dirname, isAbsolute, join, basename } from 'node:path';
import type { GatewayKey, KeysFile, Reload } from '../../../../schemas/types.generated.ts';
import { type Diagnostic, formatDiagnostics } from '../../settings/source/diagnostic.ts';
import { diskFiles, type SettingsFiles } from '../../settings/source/files.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { readSettingsFile } from '../../settings/read/read-file.ts';
import { referencesIn, type Environment } from '../../settings/values/references.ts';
import { packageSchemas } from '../../settings/schema/schemas.ts';
import { YamlFile } from '../../settings/source/yaml-file.ts';
import { shellWord, type Output } from '../terminal/output.ts';
import type { FileEdit } from './edit-keys.ts';
import { randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';

interface ReadKeysOptions {
  readonly env: Environment;
  readonly now: number;
  /** Text to read instead of the file on disk: the content after an edit. */
  readonly text?: string;
}

export interface ReadKeys {
  readonly path: string;
  readonly text: string;
  readonly keys: readonly GatewayKey[];
  /** The reload settings; undefined if the settings as a whole are invalid. */
  readonly reload: Reload | undefined;
  /** Errors in the other files: with them a running gateway keeps its old settings. */
  readonly elsewhere: readonly Diagnostic[];
}

interface RefusedKeys {
  readonly diagnostics: readonly Diagnostic[];
  readonly folderExists: boolean;
}

/** Checks as `gatehouse validate`, without the secrets and variables: keys are revoked from any shell. */
export async function readKeys(dir: string, options: ReadKeysOptions): Promise<ReadKeys | RefusedKeys> {
  const path = join(dir, 'keys.yaml');
  const content = options.text === undefined ? await diskFiles.read(path) : { text: options.text };
  const text = 'text' in content ? content.text : undefined;
  const { env, files } = withFakes(path, text, options.env);
  const { now } = options;
  const loaded = await loadSettings(dir, { env, files, now });
  const found = { kind: 'keys', name: 'keys.yaml', path, id: 'keys' } as const;
  const { value } = await readSettingsFile(found, { env, files, schemas: packageSchemas() });
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error');
  const own = errors.filter(({ file }) => file === path || !loaded.folderExists);
  if (own.length > 0 || value === undefined || text === undefined)
    return { diagnostics: own, folderExists: loaded.folderExists };
  return {
    path,
    text,
    // ajv has just validated the value against the schema this type is generated from.
    keys: (value as KeysFile).keys,
    reload: loaded.settings && { ...loaded.settings.server.reload },
    elsewhere: errors,
  };
}

/** Gives each variable and file that keys.yaml names and this shell lacks a distinct fake value. */
function withFakes(path: string, text: string | undefined, env: Environment) {
  const references = text === undefined ? [] : referencesIn(YamlFile.parse(path, text));
  const variables = references.filter(
    ({ kind, name, fallback }) => kind === 'env' && fallback === undefined && env[name] === undefined,
  );
  const named = references.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const paths = new Set(named.map((name) => (isAbsolute(name) ? name : join(dirname(path), name))));
  const fakes = Object.fromEntries(variables.map(({ name }) => [name, `not-known-here:${name}`]));
  const files: SettingsFiles = {
    list: (folder) => diskFiles.list(folder),
    async read(one) {
      if (one === path && text !== undefined) return { text };
      const content = await diskFiles.read(one);
      return !('text' in content) && paths.has(one) ? { text: `not-known-here:${one}` } : content;
    },
  };
  return { env: { ...env, ...fakes }, files };
}

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
      const mark = (await readFile(target, 'utf8')).startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
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
