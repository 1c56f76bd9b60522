import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { StateStoreSettings } from '../../../../../schemas/types.generated.ts';
import type { DriverTools, StoreDriver } from '../../../../core/ports/store-driver.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import type { EngineOptions } from './engine.ts';

const BOOT_ID = randomBytes(16).toString('hex');

/** A store in a folder, which one process owns. */
export const SQLITE: StoreDriver = {
  type: 'sqlite',
  keys: ['dir'],
  use: 'owned',
  nameOf: folderOf,
  folderOf,
  check({ dir }: StateStoreSettings, report) {
    if (dir !== undefined) return;
    report({ path: ['type'], message: 'a store of type `sqlite` needs `dir`, the folder of its files' });
  },
  open: (entry: StateStoreSettings, tools) => openIn(folderOf(entry), tools),
  async read(entry: StateStoreSettings, { keys }) {
    const { readStore } = await import('./store-reader.ts');
    return readStore(folderOf(entry), keys);
  },
  copies: {
    async copy(entry: StateStoreSettings, folder) {
      const { copyStore } = await import('./store-copy.ts');
      await copyStore(folderOf(entry), folder);
      return { ...entry, dir: folder };
    },
    async restore(folder, entry: StateStoreSettings) {
      const { restoreStore } = await import('./store-copy.ts');
      restoreStore(folder, folderOf(entry));
    },
  },
  async moveFrom(folder, tools, locks) {
    const { SqliteMoveSource } = await import('./move-source.ts');
    return new SqliteMoveSource(engineOptions(folder, tools), locks);
  },
};

/** The same in a private temporary folder, for trials. */
export const MEMORY: StoreDriver = {
  type: 'memory',
  keys: [],
  use: 'process',
  nameOf: () => 'memory',
  folderOf: () => undefined,
  check() {},
  async open(_, tools) {
    const { makeTemporaryFolder } = await import('./temporary-folder.ts');
    const folder = makeTemporaryFolder();
    try {
      const store = await openIn(folder.path, tools);
      return {
        ...store,
        async close() {
          await store.close();
          folder.remove();
        },
      };
    } catch (error) {
      folder.remove();
      throw error;
    }
  },
  async read() {
    const { StateFailure } = await import('../../../../core/ports/failures.ts');
    throw new StateFailure('not_found', 'a store in memory ends with its process');
  },
  copies: 'a store in memory has no backups: use `type: sqlite`',
};

// The check of the settings has refused a store without `dir`.
function folderOf({ dir = '' }: { readonly type: string; readonly dir?: string }): string {
  return dir;
}

async function openIn(folder: string, tools: DriverTools): Promise<StateStore> {
  const { openSqliteStore } = await import('./state-store.ts');
  return openSqliteStore(engineOptions(folder, tools), tools.clock);
}

const engineOptions = (folder: string, { keys, clock }: DriverTools): EngineOptions => ({
  folder,
  owner: { pid: process.pid, boot: BOOT_ID, host: hostname() },
  keys,
  now: clock.wall(),
});
