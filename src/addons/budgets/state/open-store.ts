import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../../plugin/index.ts';
import type { StateSettings } from '../settings/state.ts';
import type { StateStore } from '../../../core/ports/store.ts';

/** Random, of this run of the process. */
const BOOT_ID = randomBytes(16).toString('hex');

/** Opens the store of the settings. The drivers are loaded here: a gateway without a store, and most commands, load neither. */
export async function openStore(
  { folder, encryptionKeys }: Pick<StateSettings, 'folder' | 'encryptionKeys'>,
  clock: Clock,
): Promise<StateStore> {
  const keys = encryptionKeys?.reveal() ?? '';
  if (folder === undefined) {
    const [{ openMemoryStore }, { KeyEncryptionKeys }] = await Promise.all([
      import('../store/memory/state-store.ts'),
      import('../store/rules/sealing.ts'),
    ]);
    return openMemoryStore(clock, KeyEncryptionKeys.parse(keys));
  }
  const { openSqliteStore } = await import('../store/sqlite/state-store.ts');
  return openSqliteStore({ folder, owner: { pid: process.pid, boot: BOOT_ID, host: hostname() }, keys }, clock);
}
