import type { Settings } from '../settings/read/load.ts';
import { editedFiles } from '../settings/read/edited-files.ts';
import type { ReadPlaces, SettingsFiles } from '../settings/source/files.ts';
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

/** The settings in force, and those with the texts in the place of them. */
export function filesOf({ folder, contents, texts, stored: sent }: SettingsTrial): {
  readonly before: SettingsFiles;
  readonly after: SettingsFiles;
} {
  const objects = new Map(sent?.objects.map((object) => [nameOf(object), object]));
  const inForce = { contents, stored: sent && { known: sent.known, objects } };
  return { before: editedFiles(folder, inForce, {}), after: editedFiles(folder, inForce, texts) };
}
