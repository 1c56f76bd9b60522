import { describeCounters } from '../contract/counters.testkit.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { MemoryAudit } from './audit.ts';
import { MemoryCounters } from './counters.ts';

// A gateway without a state store counts its budgets with them.
describeCounters({
  name: 'memory',
  open: async ({ clock, keys }) => {
    const audit = new MemoryAudit(clock, KeyEncryptionKeys.parse(keys));
    return { store: { audit, counters: new MemoryCounters(clock, audit) }, end: () => Promise.resolve() };
  },
});
