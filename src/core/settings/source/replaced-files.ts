import { basename, dirname, join } from 'node:path';
import type { Environment } from '../values/references.ts';
import { sentFiles, type ReadPlaces, type SettingsFiles } from './files.ts';

/** The files in force, with some replaced. Nothing else is read: a name of a file that they do not have is missing. */
export function replacedFiles(
  folder: string,
  { files, folders }: ReadPlaces,
  texts: Readonly<Record<string, string>>,
): SettingsFiles {
  const replaced = new Map(Object.entries(texts).map(([name, text]) => [join(folder, name), { text }]));
  const inside = Map.groupBy(
    Object.keys(texts).filter((name) => name.includes('/')),
    (name) => join(folder, dirname(name)),
  );
  const listed = [...inside].map(([path, names]) => {
    const known = folders.get(path);
    const before = known && 'names' in known ? known : { names: [], folders: [] };
    return [
      path,
      { ...before, names: [...new Set([...before.names, ...names.map((name) => basename(name))])] },
    ] as const;
  });
  return sentFiles(() => ({ files: new Map([...files, ...replaced]), folders: new Map([...folders, ...listed]) }));
}

/** Only the variables that the settings in force name: a supposed file must not read others. */
export function knownEnvironment(env: Environment, { files }: ReadPlaces): Environment {
  const names = [...files.values()].flatMap((read) =>
    'text' in read ? [...read.text.matchAll(/\$\{env:([A-Za-z_]\w*)/g)].map(([, name = '']) => name) : [],
  );
  return Object.fromEntries([...new Set(names)].map((name) => [name, env[name]]));
}
