import { StateFailure } from '../../core/ports/failures.ts';
import type { DriverTools, StoreDriver, StoreEntry } from '../../core/ports/store-driver.ts';
import type { Secret } from '../../plugin/index.ts';
import { partOf } from '../../core/process/add-on-parts.ts';
import { isInstalled } from '../../core/kernel/on-demand.ts';
import { INSTALL_PG } from './connect/load-pg.ts';
import { nameOfAddress, readAddress } from './settings/address.ts';
import type { PostgresOptions } from './store/state-store.ts';

/** `state.store` with the keys of this add-on. */
export interface PostgresEntry extends StoreEntry {
  readonly url?: Secret;
  readonly ca?: string;
  readonly schema?: string;
  readonly connections?: number;
  readonly listen?: boolean;
}

/** A store in a PostgreSQL server, which several gateways share. */
export const POSTGRES: StoreDriver = {
  type: 'postgres',
  keys: ['url', 'ca', 'schema', 'connections', 'listen'],
  use: 'shared',
  nameOf({ url }: PostgresEntry) {
    const address = readAddress(url?.reveal() ?? '');
    return typeof address === 'string' ? 'PostgreSQL' : nameOfAddress(address);
  },
  folderOf: () => undefined,
  check({ url }: PostgresEntry, report) {
    if (!isInstalled('pg')) report({ path: ['type'], message: INSTALL_PG });
    if (!url) {
      report({ path: ['type'], message: 'a store of type `postgres` needs `url`, the address of its database' });
      return;
    }
    const address = readAddress(url.reveal());
    if (typeof address === 'string') report({ path: ['url'], message: address });
  },
  async open(entry: PostgresEntry, tools) {
    const { openPostgresStore } = await import('./store/state-store.ts');
    return openPostgresStore(await optionsOf(entry, tools));
  },
  async read(entry: PostgresEntry, tools) {
    const { readPostgresStore } = await import('./store/state-store.ts');
    return readPostgresStore(await optionsOf(entry, tools));
  },
  async moveTo(entry: PostgresEntry, tools) {
    const { PostgresMoveTarget } = await import('./store/move-target.ts');
    return new PostgresMoveTarget(await optionsOf(entry, tools));
  },
  copies:
    'a store of type `postgres` is copied with the tools of PostgreSQL, such as pg_dump or an archive of its log: remove `backup`',
};

export async function optionsOf(entry: PostgresEntry, { clock, keys }: DriverTools): Promise<PostgresOptions> {
  const { url, ca, schema = 'gatehouse', connections = 4, listen = true } = entry;
  const address = readAddress(url?.reveal() ?? '');
  if (typeof address === 'string') throw new StateFailure('invalid', address);
  const rules = await partOf('storeRules')?.();
  if (!rules) throw new StateFailure('invalid', 'this build has no add-on budgets');
  const { loadPg } = await import('./connect/load-pg.ts');
  return { pg: await loadPg(), address, ca, schema, connections, listen, keys, rules, clock };
}
