import type { AuditChain, SecretRing, StoreRules } from '../../../core/ports/store-rules.ts';
import type { ConnectionPool } from './connections.ts';

export interface StoreTools {
  readonly rules: StoreRules;
  readonly ring: SecretRing;
  readonly chain: AuditChain;
  readonly connections: ConnectionPool;
  readonly appends: ConnectionPool;
  /** For reads whose time grows with what the store has: a report of a year must not keep a lease waiting. */
  readonly reads: ConnectionPool;
  readonly maxNames: number;
  /** Empty: the clock of the database decides. Tests give `now`, a time of their own. */
  now(): { readonly now?: number };
}
