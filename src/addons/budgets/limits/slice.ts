import type { CounterRef, LeaseId } from '../../../core/ports/counters.ts';
import type { Account } from './accounts.ts';
import { Pace } from './lease-size.ts';

/** The lease of an account: the slice of its budget that this process may spend. */
export interface Slice {
  lease: LeaseId;
  /** The part of `used` that the store has. */
  reported: number;
  /** `used` when the last report left. */
  usedBefore: number;
  /** `used` and `held` at the last reserve. Costs beyond their reserves come on top, and later reserves have to make up for them. */
  level: number;
  readonly pace: Pace;
  /** Reports since the account was used. */
  idle: number;
  grant: number;
  /** Monotonic milliseconds before which an account without room is not asked for again. */
  askAgainAt: number;
  /** When the last answered question was asked, and when it was answered. */
  askedAt: number;
  answeredAt: number;
  /** Another account of the counter has the next lease: what is held stays on this one. */
  isReplaced: boolean;
}

export const newSlice = (): Slice => ({
  lease: 0,
  reported: 0,
  usedBefore: 0,
  level: 0,
  pace: new Pace(),
  idle: 0,
  grant: 0,
  askAgainAt: -Infinity,
  askedAt: -Infinity,
  answeredAt: -Infinity,
  isReplaced: false,
});

/** The amount that was reserved beyond the lease, as far as it is still used or held. Of a lease that has ended, beyond what is reported on it, too. */
export const onCredit = ({ used, held, limit }: Account, { level, isReplaced, reported }: Slice): number =>
  Math.max(0, Math.min(level, used + held) - (isReplaced ? Math.max(limit, reported) : limit));

export const refOf = ({ budget, span }: Pick<Account, 'budget' | 'span'>): CounterRef => ({
  node: budget.id,
  period: span.start,
});
