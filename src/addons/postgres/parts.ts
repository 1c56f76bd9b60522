import type { StateStoreSettings } from '../../../schemas/types.generated.ts';
import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import type { RestartOnly } from '../../core/process/restart-only.ts';
import { POSTGRES } from './driver.ts';

/** Keys of `state.store`: the store is opened at the start. */
const AT_START = (
  [
    ['url', ({ url }) => url?.reveal()],
    ['ca', ({ ca }) => ca],
    ['schema', ({ schema }) => schema],
    ['connections', ({ connections }) => connections],
    ['listen', ({ listen }) => listen],
  ] as readonly (readonly [string, (store: StateStoreSettings) => string | number | boolean | undefined])[]
).map(([key, read]): RestartOnly => ({
  path: ['state', 'store', key],
  read: (_, { state }) => state && read(state.store),
  ...(key === 'url' && { hidden: true }),
}));

export const parts: AddOnParts = {
  storeDrivers: [POSTGRES],
  restartOnly: AT_START,
  async examine({ state }, tools) {
    if (state?.store.type !== POSTGRES.type) return [];
    return (await import('./examine.ts')).examineStore(state.store, tools);
  },
};
