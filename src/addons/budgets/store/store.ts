import type { Audit } from './audit.ts';
import type { Counters } from './counters.ts';
import type { Entities } from './entities.ts';
import type { Idempotency } from './idempotency.ts';
import type { Ledger } from './ledger.ts';

/** A state store: all ports of one backend. */
export interface StateStore {
  readonly entities: Entities;
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly idempotency: Idempotency;
  /**
   * Copies the whole store to a folder that does not exist, consistent with one moment, while it is in use.
   * Rejects with `invalid` where the backend is copied with its own tools.
   */
  backup(folder: string): Promise<void>;
  /** Ends what is under way and frees the store for another process. Methods reject with `unavailable` afterwards. */
  close(): Promise<void>;
}
