import { join } from 'node:path';
import type { CatalogFile } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import {
  storedConfigs,
  storedName,
  storedProviders,
  type StoredConfig,
  type StoredObjects,
  type StoredProvider,
} from '../source/stored-objects.ts';
import type { Schemas } from '../schema/schemas.ts';
import { aboutFile } from '../source/diagnostic.ts';
import { SEALED_TEXT } from '../values/references.ts';
import { readSettingsFile, type ReadFile } from './read-file.ts';
import { foreignAddress, machineFileOf } from './stored-catalog.ts';

interface StoredSetup {
  readonly schemas: Schemas;
  /** An entry may name its shared credentials. */
  readonly catalog: CatalogFile | undefined;
  /** Of the files in gateway/, which no config of the store replaces. */
  readonly configIds: readonly string[];
}

/** The text of an object as a file, and why it cannot be used although the text may be valid. */
interface StoredText {
  readonly text: string;
  readonly problem: string | undefined;
  readonly fakeMissing?: boolean;
}

/**
 * Reads the entries of the catalog and the gateway configs that the state store has, each as a file of its own: one that is not valid has no
 * effect, and the gateway serves the others.
 */
export function readStoredFiles(
  folder: string,
  stored: StoredObjects | undefined,
  { schemas, catalog, configIds }: StoredSetup,
): Promise<readonly ReadFile[]> {
  const configs = storedConfigs(stored).filter(({ id }) => !configIds.includes(id));
  return Promise.all([
    ...storedProviders(stored).map((one) => readStored(folder, one, entryText(one, catalog), schemas)),
    ...configs.map((one) => readStored(folder, one, { text: one.value.text, problem: one.problem }, schemas)),
  ]);
}

/** A reference in it is plain text: an admin who may write an object must not read the environment or files of the machine with it. */
async function readStored(
  folder: string,
  { kind, id }: StoredProvider | StoredConfig,
  { text, problem, fakeMissing = false }: StoredText,
  schemas: Schemas,
): Promise<ReadFile> {
  const name = storedName({ kind, id });
  const found = { kind: kind === 'providers' ? 'catalog' : 'gateway', name, path: join(folder, name), id } as const;
  const files = { read: async () => ({ text }), list: async () => ({ names: [], folders: [] }) };
  const how = fakeMissing ? { fakeMissing } : { lookup: SEALED_TEXT };
  const read = await readSettingsFile(found, { env: {}, files, schemas, ...how });
  const what = kind === 'providers' ? 'entry' : 'config';
  const unusable = problem === undefined ? [] : [aboutFile(found.path, `the ${what} cannot be used: ${problem}`)];
  const diagnostics = [...unusable, ...read.diagnostics].map((one) => ({ ...one, severity: 'warning' as const }));
  // The text is no file.
  return { ...read, diagnostics, paths: [], fakedNames: [], ...(problem !== undefined && { value: undefined }) };
}

/** Secrets of its own stand in clear in the text, as in a file. Those that this gateway cannot open are faked. */
function entryText({ id, value, problem }: StoredProvider, catalog: CatalogFile | undefined): StoredText {
  const { doc, secrets, unread = [] } = value;
  const sealed = Object.entries(secrets).map(([field, text]): [string, unknown] => [field, JSON.parse(text)]);
  const faked = unread.flatMap((field) => (field === 'secret_headers' ? [] : [[field, '${env:SEALED}']]));
  const fields = Object.fromEntries([...faked, ...sealed]) as Readonly<Record<string, unknown>>;
  const name = String(doc['credentials']);
  const shared = catalog?.credentials?.[name];
  const credentials = shared && { [name]: shared };
  return {
    text: JSON.stringify({ credentials, providers: [{ ...doc, ...fields, slug: id }] }, inClear),
    problem: problem ?? foreignAddress(doc, catalog) ?? machineFileOf({ ...doc, ...fields }),
    fakeMissing: unread.length > 0,
  };
}

function inClear(this: Readonly<Record<string, unknown>>, key: string, shown: unknown): unknown {
  const own = this[key];
  return own instanceof Secret ? own.reveal() : shown;
}
