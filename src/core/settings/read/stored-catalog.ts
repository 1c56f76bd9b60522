import { join } from 'node:path';
import type { FoundFile } from '../source/find-files.ts';
import { storedProviders, type StoredObjects, type StoredProvider } from '../source/stored-objects.ts';
import type { Schemas } from '../schema/schemas.ts';
import { aboutFile } from '../source/diagnostic.ts';
import { SEALED_TEXT } from '../values/references.ts';
import { readSettingsFile, type ReadFile } from './read-file.ts';

/** The name under which diagnostics show an entry of the state store. */
export const storedEntryName = (id: string): string => `store/providers/${id}`;

/**
 * Reads the entries of the catalog that the state store has, each as a file of its own: one that is not valid has no effect, and the gateway
 * serves the others. A reference in it is plain text: an admin who may write an entry must not read the environment or files of the machine with it.
 */
export function readStoredEntries(
  folder: string,
  stored: StoredObjects | undefined,
  schemas: Schemas,
): Promise<readonly ReadFile[]> {
  return Promise.all(storedProviders(stored).map((one) => readEntry(folder, one, schemas)));
}

async function readEntry(folder: string, { id, value, problem }: StoredProvider, schemas: Schemas): Promise<ReadFile> {
  const name = storedEntryName(id);
  const found: FoundFile = { kind: 'catalog', name, path: join(folder, name), id };
  const { doc, secrets, unread = [] } = value;
  const sealed = Object.entries(secrets).map(([field, text]): [string, unknown] => [field, JSON.parse(text)]);
  const faked = unread.flatMap((field) => (field === 'secret_headers' ? [] : [[field, '${env:SEALED}']]));
  const fields = Object.fromEntries([...faked, ...sealed]) as Readonly<Record<string, unknown>>;
  const text = JSON.stringify({ providers: [{ ...doc, ...fields, slug: id }] });
  const files = { read: async () => ({ text }), list: async () => ({ names: [], folders: [] }) };
  const how = unread.length > 0 ? { fakeMissing: true } : { lookup: SEALED_TEXT };
  const read = await readSettingsFile(found, { env: {}, files, schemas, ...how });
  const unusable = problem === undefined ? [] : [aboutFile(found.path, `the entry cannot be used: ${problem}`)];
  const diagnostics = [...unusable, ...read.diagnostics].map((one) => ({ ...one, severity: 'warning' as const }));
  // The text is no file.
  return { ...read, diagnostics, paths: [], fakedNames: [], ...(problem !== undefined && { value: undefined }) };
}
