import type { Settings } from '../settings/read/load.ts';
import { withStoredObjects, type ReadPlaces, type SettingsFiles } from '../settings/source/files.ts';
import { nameOf, type StoredObject } from '../settings/source/stored-objects.ts';
import type { Environment } from '../settings/values/references.ts';

/** Settings in force, and texts that somebody wishes in their place: what a job about them gets. Plain values. */
export interface SettingsTrial {
  readonly folder: string;
  /** Of the settings in force, including secrets. */
  readonly contents: ReadPlaces;
  /** By their names in the folder. */
  readonly texts: Readonly<Record<string, string>>;
  /** The objects of the state store. Undefined: there is none. */
  readonly stored: { readonly known: boolean; readonly objects: readonly StoredObject[] } | undefined;
  readonly env: Environment;
}

export const storedOf = ({ stored }: Pick<Settings, 'stored'>): SettingsTrial['stored'] =>
  stored && { known: stored.known, objects: [...stored.objects.values()] };

/** The files with the objects of the store beside them. */
export function withStoredOf(files: SettingsFiles, { stored }: Pick<SettingsTrial, 'stored'>): SettingsFiles {
  if (!stored) return files;
  const objects = new Map(stored.objects.map((object) => [nameOf(object), object]));
  return withStoredObjects(files, () => ({ known: stored.known, objects }));
}
