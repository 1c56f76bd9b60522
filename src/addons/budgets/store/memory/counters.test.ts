import { describeCounters } from '../contract/counters.testkit.ts';
import { describeCredit } from '../contract/credit.testkit.ts';
import type { Backend } from '../contract/opened-store.testkit.ts';
import { MemoryCounters } from './counters.ts';

const backendOf = (name: string, givesCredit: boolean): Backend<'counters'> => ({
  name,
  open: async ({ clock }) => ({
    store: { counters: new MemoryCounters(clock, { givesCredit }) },
    end: () => Promise.resolve(),
  }),
});

// A gateway without a state store counts its budgets with them.
describeCounters(backendOf('memory', false));
describeCounters(backendOf('memory with standing credit', true));
describeCredit(backendOf('memory', true));
