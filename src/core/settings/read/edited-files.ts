import { join } from 'node:path';
import type { Environment } from '../values/references.ts';
import { MAX_FILE_BYTES, sentFiles, withStoredObjects, type ReadPlaces, type SettingsFiles } from '../source/files.ts';
import { nameOf, storedName, type StoredObject, type StoredObjects } from '../source/stored-objects.ts';

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
  const added = ['gateway', 'prompts'].flatMap((inner) => {
    const path = join(folder, inner);
    const before = folders.get(path);
    const { names, folders: inside } = before && 'names' in before ? before : { names: [], folders: [] };
    const own = ofFiles.flatMap(([name]) => (name.startsWith(`${inner}/`) ? [name.slice(inner.length + 1)] : []));
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
export function knownEnvironment(env: Environment, { files }: ReadPlaces): Environment {
  const names = [...files.values()].flatMap((read) =>
    'text' in read ? [...read.text.matchAll(/\$\{env:([A-Za-z_]\w*)/g)].map(([, name = '']) => name) : [],
  );
  return Object.fromEntries([...new Set(names)].map((name) => [name, env[name]]));
}
