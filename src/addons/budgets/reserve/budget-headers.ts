import { RATE_DIALECTS } from '../../../formats/rate-headers.ts';
import type { Account } from '../limits/accounts.ts';
import type { Exchange } from '../../../core/kernel/index.ts';

type Headers = Readonly<Record<string, string>>;

const resetsAt = ({ span }: Account): number | undefined => (span.end === Infinity ? undefined : span.end);

/** A budget that keys share blocks the group. @param wall milliseconds since 1970 */
export const exhaustedHeaders = ({ operation }: Exchange, account: Account, wall: number): Headers | undefined =>
  operation &&
  RATE_DIALECTS[operation.format.name]?.exhausted?.({
    resetsAt: resetsAt(account),
    period: account.budget.period,
    isShared: account.budget.node.kind !== 'key',
    wall,
  });

export const uncheckedHeaders = ({ operation }: Exchange): Headers | undefined =>
  operation && RATE_DIALECTS[operation.format.name]?.unchecked;

/** Describes the budget of the key itself of which the largest share is spent. The caller may not know what others spent of a shared budget. */
export function spentHeaders({ operation }: Exchange, accounts: readonly Account[]): Headers | undefined {
  const write = operation && RATE_DIALECTS[operation.format.name]?.spent;
  if (!write) return undefined;
  const own = accounts.filter(({ budget: { hard, node, amount } }) => hard && amount > 0 && node.kind === 'key');
  const fullest = own.toSorted((one, other) => other.spentShare - one.spentShare)[0];
  return fullest && write({ share: fullest.spentShare, resetsAt: resetsAt(fullest) });
}
