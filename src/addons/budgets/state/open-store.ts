import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { StateSettings } from '../settings/state.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { StateFailure } from '../../../core/ports/failures.ts';

const BOOT_ID = randomBytes(16).toString('hex');

/** Opens the store in `folder`. The driver is loaded here: a gateway without a store, and most commands, do not load it. */
export async function openStore(
  { folder, encryptionKeys }: Pick<StateSettings, 'encryptionKeys'> & { readonly folder: string },
  clock: Clock,
): Promise<StateStore> {
  const keys = encryptionKeys?.reveal() ?? '';
  const { openSqliteStore } = await import('../store/sqlite/state-store.ts');
  return openSqliteStore({ folder, owner: { pid: process.pid, boot: BOOT_ID, host: hostname() }, keys }, clock);
}

export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder and what is in it. May be called again. */
  remove(): void;
}

/** Makes a folder that only this user can read. It is gone when the process exits, unless the process is killed. Throws `StateFailure`. */
export function makeTemporaryFolder(): TemporaryFolder {
  let path: string;
  try {
    path = mkdtempSync(join(tmpdir(), 'gatehouse-state-'));
  } catch (error) {
    throw new StateFailure('unavailable', `no temporary folder for the store: ${messageOf(error)}`, { cause: error });
  }
  // At an exit the thread of the store may still write.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  return { path, remove: () => (process.off('exit', remove), remove()) };
}
