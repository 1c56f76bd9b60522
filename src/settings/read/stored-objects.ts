import { join } from 'node:path';
import type { GatewayKey, KeysFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { digestsOf } from '../compile/api-keys.ts';
import type { SettingsFiles } from '../source/files.ts';
import type { Schemas } from './schemas.ts';

// Objects of the state store travel as a file of the settings folder that the disk does not have: so workers, reloads and explanations
// have the same objects as the files beside them, and this room knows nothing of the store.

/** The name of that file. */
const NAME = '(state store)';

/** The settings folder with the objects of a store in it. @param text a `StoredObjects` as JSON */
export function withStoredObjects(files: SettingsFiles, folder: string, text: () => string): SettingsFiles {
  const path = join(folder, NAME);
  return {
    read: async (name) => (name === path ? { text: text() } : files.read(name)),
    list: (name) => files.list(name),
  };
}

/** The objects of the state store that settings consist of. */
export interface StoredObjects {
  /** False: the store does not answer, and nothing is known of its objects. */
  readonly complete: boolean;
  readonly keys: readonly StoredKey[];
}

/** For the load that finds out which store to open. */
export const NO_OBJECTS: StoredObjects = { complete: true, keys: [] };

export interface StoredKey {
  /** As an entry of keys.yaml with a `digest`. */
  readonly key: GatewayKey;
  /** Who has written it, and when in milliseconds since 1970. */
  readonly by: string;
  readonly at: number;
}

/** Undefined in commands that only read files and open no store. */
export async function readStoredObjects(
  folder: string,
  files: SettingsFiles,
  schemas: Schemas,
): Promise<(StoredObjects & { readonly invalid: readonly string[] }) | undefined> {
  const read = await files.read(join(folder, NAME));
  if (!('text' in read)) return undefined;
  // Written by this process, or sent by the primary.
  const { complete, keys } = JSON.parse(read.text) as StoredObjects;
  const broken = keys.filter(
    ({ key }) => key.key !== undefined || schemas.validate('keys', { keys: [key] }).length > 0,
  );
  return { complete, keys: keys.filter((key) => !broken.includes(key)), invalid: broken.map(({ key }) => key.id) };
}

export function withStoredKeys(
  file: KeysFile,
  stored: StoredObjects | undefined,
): KeysFile & { readonly incomplete?: boolean } {
  if (!stored) return file;
  return { ...file, keys: [...file.keys, ...stored.keys.map(({ key }) => key)], incomplete: !stored.complete };
}

/** An object has one owner: a file or the store. There is no precedence that a mistake could rely on. */
export function checkStored(
  stored: StoredObjects & { readonly invalid: readonly string[] },
  file: KeysFile | undefined,
  reporter: (name: string) => Report,
): void {
  for (const id of stored.invalid)
    reporter('server.yaml')({
      path: ['state', 'store'],
      message: `the key "${id}" in the store is no valid key; \`gatehouse state export\` shows it`,
    });
  const byId = new Map(stored.keys.map((one) => [one.key.id, one]));
  const byDigest = new Map(stored.keys.flatMap((one) => digestsOf(one.key).map((digest) => [digest, one] as const)));
  const report = reporter('keys.yaml');
  for (const [index, key] of (file?.keys ?? []).entries()) {
    const twin = byId.get(key.id);
    const same = digestsOf(key)
      .map((digest) => byDigest.get(digest))
      .find((one) => one !== undefined);
    if (twin)
      report({
        path: ['keys', index, 'id'],
        message: `key "${key.id}" is also in the store ${writtenBy(twin)}: remove one of the two`,
      });
    else if (same)
      report({
        path: ['keys', index],
        message: `"${key.id}" is the same key as "${same.key.id}" in the store ${writtenBy(same)}`,
      });
  }
}

const writtenBy = ({ by, at }: StoredKey): string => `(by ${by}, ${new Date(at).toISOString().slice(0, 10)})`;
