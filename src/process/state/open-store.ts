import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../plugin/index.ts';
import type { StateSettings } from '../../settings/compile/server-settings.ts';
import type { StateStore } from '../../state/store.ts';

/** Random, of this run of the process. */
const BOOT_ID = randomBytes(16).toString('hex');

/** Opens the store of the settings. The drivers are loaded here: a gateway without a store, and most commands, load neither. */
export async function openStore(
  { folder, keys }: Pick<StateSettings, 'folder' | 'keys'>,
  clock: Clock,
): Promise<StateStore> {
  const ring = keys?.reveal() ?? '';
  if (folder === undefined) {
    const [{ openMemoryStore }, { KeyEncryptionKeys }] = await Promise.all([
      import('../../state/memory/state-store.ts'),
      import('../../state/rules/sealing.ts'),
    ]);
    return openMemoryStore(clock, ring === '' ? KeyEncryptionKeys.none() : KeyEncryptionKeys.parse(ring));
  }
  const { openSqliteStore } = await import('../../state/sqlite/state-store.ts');
  return openSqliteStore({ folder, owner: { pid: process.pid, boot: BOOT_ID, host: hostname() }, keys: ring }, clock);
}
