import { describeStateStore } from '../contract/state-store.testkit.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { openMemoryStore } from './state-store.ts';

describeStateStore({
  name: 'memory',
  mostRows: 400_000,
  open: async ({ clock, keys, maxNames }) => {
    const store = openMemoryStore(clock, KeyEncryptionKeys.parse(keys), maxNames);
    return { store, end: () => store.close() };
  },
});
