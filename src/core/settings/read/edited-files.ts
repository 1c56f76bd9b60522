import { basename, dirname, join, resolve } from 'node:path';
import type { Environment } from '../values/references.ts';
import { MAX_FILE_BYTES, sentFiles, withStoredObjects, type ReadPlaces, type SettingsFiles } from '../source/files.ts';
import { nameOf, storedName, type StoredObject, type StoredObjects } from '../source/stored-objects.ts';
import { RecordedFiles } from '../source/recorded-files.ts';
import { loadSettings } from './load.ts';

/** Names of settings files: no path leads out of the folder. `store/configs/ID` is a config of the state store. */
const NAME =
  /^(?:(?:gateway|prompts)\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.yaml|(?:server|catalog|keys|teams|prices)\.yaml|store\/configs\/[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;
const MAX_FILES = 16;

/** Why texts cannot stand for settings files; undefined: they can. */
export function problemOfTexts(entries: readonly (readonly [name: string, text: unknown])[]): string | undefined {
  if (entries.length === 0 || entries.length > MAX_FILES) return `must be an object with 1 to ${MAX_FILES} members`;
  for (const [name, text] of entries) {
    if (!NAME.test(name)) return `${JSON.stringify(name.slice(0, 100))} is no settings file`;
    if (typeof text !== 'string' || text.length > MAX_FILE_BYTES) return `${name} must be a text of at most 1 MiB`;
  }
  return undefined;
}

/** The files and objects in force, with some texts replaced. Nothing else is read: a name of a file that they do not have is missing. */
export function editedFiles(
  folder: string,
  {
    contents: { files, folders },
    stored,
  }: { readonly contents: ReadPlaces; readonly stored: StoredObjects | undefined },
  texts: Readonly<Record<string, string>>,
): SettingsFiles {
  const entries = Object.entries(texts);
  const ofFiles = entries.filter(([name]) => !name.startsWith('store/'));
  const replaced = ofFiles.map(([name, text]) => [join(folder, name), { text }] as const);
  const added = ['', 'gateway/', 'prompts/'].flatMap((inner) => {
    const path = inner === '' ? folder : join(folder, inner.slice(0, -1));
    const before = folders.get(path);
    const { names, folders: inside } = before && 'names' in before ? before : { names: [], folders: [] };
    const own = ofFiles.flatMap(([name]) => (name === inner + basename(name) ? [basename(name)] : []));
    return own.length > 0 ? [[path, { names: [...new Set([...names, ...own])], folders: inside }] as const] : [];
  });
  const all = sentFiles(() => ({ files: new Map([...files, ...replaced]), folders: new Map([...folders, ...added]) }));
  const ofStore = entries.flatMap(([name, text]): [string, StoredObject][] => {
    const own = { kind: 'configs', id: name.replace(/^store\/configs\//, '') } as const;
    return name === storedName(own) ? [[nameOf(own), { ...own, value: { text }, by: '', at: 0, version: 0 }]] : [];
  });
  if (!stored) return all;
  const objects = ofStore.length > 0 ? new Map([...stored.objects, ...ofStore]) : stored.objects;
  return withStoredObjects(all, () => ({ ...stored, objects }));
}

/** Only the variables that the settings in force name: an edited file must not read others. */
export const knownEnvironment = (env: Environment, contents: ReadPlaces): Environment =>
  variables(env, referencesOf(contents));

/**
 * Edited texts may refer to the variables and files of the settings in force, without those of secrets. A load with `fakeMissing` puts
 * stand-ins into secret fields. In any other field a secret could be guessed, such as by `$gt` in a condition.
 */
export async function openReferences(folder: string, { env, contents }: OpenReferences): Promise<OpenReferences> {
  const references = referencesOf(contents);
  const paths = pathsOf(references);
  const bare = new RecordedFiles(sentFiles(() => only(contents, (path) => !paths.has(path))));
  const { fakedNames } = await loadSettings(folder, { env: {}, files: bare, fakeMissing: true });
  const isSecret = ({ kind, name }: FoundReference): boolean => fakedNames.includes(`${kind}:${name}`);
  const hidden = pathsOf(references.filter(isSecret));
  const ofSettings = new Set([...bare.contents.files.keys()].map((path) => resolve(path)));
  return {
    env: variables(
      env,
      references.filter((one) => !isSecret(one)),
    ),
    // Keys of certificates are read by their paths, which are no references.
    contents: only(contents, (path, text) => !hidden.has(path) && (ofSettings.has(path) || !PRIVATE_KEY.test(text))),
  };
}

interface OpenReferences {
  readonly env: Environment;
  readonly contents: ReadPlaces;
}

interface FoundReference {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
}

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

const only = ({ files, folders }: ReadPlaces, keeps: (path: string, text: string) => boolean): ReadPlaces => ({
  files: new Map([...files].filter(([path, read]) => keeps(resolve(path), 'text' in read ? read.text : ''))),
  folders,
});

const referencesOf = ({ files }: ReadPlaces): readonly FoundReference[] =>
  [...files].flatMap(([file, read]) => {
    const found = 'text' in read ? [...read.text.matchAll(/\$\{(env|file):([^}]+)\}/g)] : [];
    return found.map(([, kind = '', rest = '']) => {
      const name = (kind === 'env' ? rest.replace(/:-[^]*$/, '') : rest).trim();
      return { kind, name, path: resolve(dirname(file), name) };
    });
  });

const pathsOf = (references: readonly FoundReference[]): ReadonlySet<string> =>
  new Set(references.flatMap(({ kind, path }) => (kind === 'file' ? [path] : [])));

const variables = (env: Environment, references: readonly FoundReference[]): Environment =>
  Object.fromEntries(references.flatMap(({ kind, name }) => (kind === 'env' ? [[name, env[name]]] : [])));
