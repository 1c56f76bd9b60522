import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import type { RestartOnly } from '../../core/process/restart-only.ts';
import { valueAt } from '../../core/settings/schema/pointer.ts';
import { Secret } from '../../plugin/index.ts';
import { isObject } from '../../core/kernel/index.ts';
import { POSTGRES, type PostgresEntry } from './driver.ts';

/** Keys of `state.store`: the store is opened at the start. */
const AT_START = ['url', 'ca', 'schema', 'connections', 'listen'].map((key): RestartOnly => ({
  path: ['state', 'store', key],
  read: (_, server) => textOf(valueAt(server, ['state', 'store', key])),
  ...(key === 'url' && { hidden: true }),
}));

function textOf(value: unknown): string | undefined {
  const shown = value instanceof Secret ? value.reveal() : value;
  return shown === undefined ? undefined : JSON.stringify(shown);
}

export const parts: AddOnParts = {
  storeDrivers: [POSTGRES],
  restartOnly: AT_START,
  async examine(server, tools) {
    // A build without the add-on of the store has no type for it. The schema has checked what is there.
    const store = valueAt(server, ['state', 'store']);
    if (!isObject(store) || store['type'] !== POSTGRES.type) return [];
    return (await import('./examine.ts')).examineStore(store as unknown as PostgresEntry, tools);
  },
};
