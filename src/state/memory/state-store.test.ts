import { describeStateStore } from '../contract/state-store.testkit.ts';
import { openMemoryStore } from './state-store.ts';

describeStateStore({
  name: 'memory',
  open: async (clock, keys) => {
    const store = openMemoryStore(clock, keys);
    return { store, end: () => store.close() };
  },
});
