import { describeAudit } from './audit.testkit.ts';
import { describeCounters } from './counters.testkit.ts';
import { describeEntities } from './entities.testkit.ts';
import { describeFleet } from './fleet.testkit.ts';
import { describeIdempotency } from './idempotency.testkit.ts';
import { describeLedger } from './ledger.testkit.ts';
import type { Backend } from './opened-store.testkit.ts';

/** The duties of every backend of the state store. */
export function describeStateStore(backend: Backend): void {
  describeEntities(backend);
  describeCounters(backend);
  describeLedger(backend);
  describeAudit(backend);
  describeIdempotency(backend);
  describeFleet(backend);
}
