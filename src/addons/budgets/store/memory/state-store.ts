import type { Clock } from '../../../../plugin/index.ts';
import type { KeyEncryptionKeys } from '../rules/sealing.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import { MemoryAudit } from './audit.ts';
import { MemoryCounters } from './counters.ts';
import { MemoryEntities } from './entities.ts';
import { MemoryIdempotency } from './idempotency.ts';
import { MemoryLedger } from './ledger.ts';

/** A store that ends with its process: for trials and tests. */
export function openMemoryStore(clock: Clock, keys: KeyEncryptionKeys, maxNames?: number): StateStore {
  const audit = new MemoryAudit(clock, keys);
  return {
    entities: new MemoryEntities(clock, audit, keys),
    counters: new MemoryCounters(clock, audit),
    ledger: new MemoryLedger(maxNames),
    audit,
    idempotency: new MemoryIdempotency(clock),
    backup: () => Promise.reject(new StateFailure('invalid', 'a store in memory has no backup')),
    close: () => Promise.resolve(),
  };
}
