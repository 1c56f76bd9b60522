import { join } from 'node:path';
import type { FoundFile } from '../source/find-files.ts';
import { storedConfigs, storedName, type StoredConfig, type StoredObjects } from '../source/stored-objects.ts';
import type { Schemas } from '../schema/schemas.ts';
import { aboutFile } from '../source/diagnostic.ts';
import { SEALED_TEXT } from '../values/references.ts';
import { readSettingsFile, type ReadFile } from './read-file.ts';

/**
 * Reads the gateway configs that the state store has, each as a file of its own: one that is not valid has no effect, and the gateway serves
 * the others. A reference in it is plain text: an admin who may write a config must not read the environment or files of the machine with it.
 * @param ofFiles ids of the files in gateway/, which no config of the store replaces
 */
export function readStoredConfigs(
  folder: string,
  stored: StoredObjects | undefined,
  { schemas, ofFiles }: { readonly schemas: Schemas; readonly ofFiles: readonly string[] },
): Promise<readonly ReadFile[]> {
  const own = storedConfigs(stored).filter(({ id }) => !ofFiles.includes(id));
  return Promise.all(own.map((one) => readConfig(folder, one, schemas)));
}

async function readConfig(
  folder: string,
  { kind, id, value, problem }: StoredConfig,
  schemas: Schemas,
): Promise<ReadFile> {
  const name = storedName({ kind, id });
  const found: FoundFile = { kind: 'gateway', name, path: join(folder, name), id };
  const files = { read: async () => ({ text: value.text }), list: async () => ({ names: [], folders: [] }) };
  const read = await readSettingsFile(found, { env: {}, files, schemas, lookup: SEALED_TEXT });
  const unusable = problem === undefined ? [] : [aboutFile(found.path, `the config cannot be used: ${problem}`)];
  const diagnostics = [...unusable, ...read.diagnostics].map((one) => ({ ...one, severity: 'warning' as const }));
  // The text is no file.
  return { ...read, diagnostics, paths: [], ...(problem !== undefined && { value: undefined }) };
}
