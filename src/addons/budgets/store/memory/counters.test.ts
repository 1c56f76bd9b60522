import { describeCounters } from '../contract/counters.testkit.ts';
import { MemoryCounters } from './counters.ts';

// A gateway without a state store counts its budgets with them.
describeCounters({
  name: 'memory',
  open: async ({ clock }) => ({ store: { counters: new MemoryCounters(clock) }, end: () => Promise.resolve() }),
});
