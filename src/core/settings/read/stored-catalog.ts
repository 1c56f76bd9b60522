import { join } from 'node:path';
import type { CatalogFile } from '../../../../schemas/types.generated.ts';
import { hasMember, parseJson } from '../../kernel/index.ts';
import { Secret } from '../../../plugin/index.ts';
import type { FoundFile } from '../source/find-files.ts';
import { storedName, storedProviders, type StoredObjects, type StoredProvider } from '../source/stored-objects.ts';
import type { Schemas } from '../schema/schemas.ts';
import { aboutFile } from '../source/diagnostic.ts';
import { SEALED_TEXT } from '../values/references.ts';
import { readSettingsFile, type ReadFile } from './read-file.ts';

/**
 * Reads the entries of the catalog that the state store has, each as a file of its own: one that is not valid has no effect, and the gateway
 * serves the others. A reference in it is plain text: an admin who may write an entry must not read the environment or files of the machine with it.
 */
export function readStoredEntries(
  folder: string,
  stored: StoredObjects | undefined,
  setup: EntrySetup,
): Promise<readonly ReadFile[]> {
  return Promise.all(storedProviders(stored).map((one) => readEntry(folder, one, setup)));
}

interface EntrySetup {
  readonly schemas: Schemas;
  /** An entry may name its shared credentials. */
  readonly catalog: CatalogFile | undefined;
}

async function readEntry(
  folder: string,
  { kind, id, value, problem }: StoredProvider,
  { schemas, catalog }: EntrySetup,
): Promise<ReadFile> {
  const file = storedName({ kind, id });
  const found: FoundFile = { kind: 'catalog', name: file, path: join(folder, file), id };
  const { doc, secrets, unread = [] } = value;
  const sealed = Object.entries(secrets).map(([field, text]): [string, unknown] => [field, JSON.parse(text)]);
  const faked = unread.flatMap((field) => (field === 'secret_headers' ? [] : [[field, '${env:SEALED}']]));
  const fields = Object.fromEntries([...faked, ...sealed]) as Readonly<Record<string, unknown>>;
  const name = String(doc['credentials']);
  const shared = catalog?.credentials?.[name];
  const credentials = shared && { [name]: shared };
  const text = JSON.stringify({ credentials, providers: [{ ...doc, ...fields, slug: id }] }, inClear);
  const files = { read: async () => ({ text }), list: async () => ({ names: [], folders: [] }) };
  const how = unread.length > 0 ? { fakeMissing: true } : { lookup: SEALED_TEXT };
  const read = await readSettingsFile(found, { env: {}, files, schemas, ...how });
  const why = problem ?? foreignAddress(doc, catalog) ?? machineFileOf({ ...doc, ...fields });
  const unusable = why === undefined ? [] : [aboutFile(found.path, `the entry cannot be used: ${why}`)];
  const diagnostics = [...unusable, ...read.diagnostics].map((one) => ({ ...one, severity: 'warning' as const }));
  // The text is no file.
  return { ...read, diagnostics, paths: [], fakedNames: [], ...(why !== undefined && { value: undefined }) };
}

/** An admin may write where an entry calls: credentials of the machine and shared ones go to the vendor, or where an entry of the file calls. */
export function foreignAddress(
  { provider, credentials, base_url: url }: StoredProvider['value']['doc'],
  file: Pick<CatalogFile, 'providers'> | undefined,
): string | undefined {
  if (credentials === undefined || url === undefined) return undefined;
  if (file?.providers.some((one) => one.provider === provider && one.base_url === url)) return undefined;
  return 'its credentials are shared or those of the machine, and `base_url` is that of no entry of catalog.yaml of this provider';
}

const SOURCES = new Set(['credential_source']);

/** Workload identity federation reads a file: the one that its JSON names, which may be any of the machine. */
export function machineFileOf({ credentials_json: json }: StoredProvider['value']['doc']): string | undefined {
  if (typeof json !== 'string' || !hasMember(parseJson(json), SOURCES)) return undefined;
  return 'its `credentials_json` names a file of the machine: write the entry into catalog.yaml';
}

function inClear(this: Readonly<Record<string, unknown>>, key: string, shown: unknown): unknown {
  const own = this[key];
  return own instanceof Secret ? own.reveal() : shown;
}
