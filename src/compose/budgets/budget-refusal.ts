import { RATE_DIALECTS } from '../../formats/rate-headers.ts';
import type { Account } from '../../governance/accounts.ts';
import type { ReservationRefusal } from '../../governance/reservations.ts';
import { GatewayError, type Exchange } from '../../plugin/index.ts';
import { nameOfBudget, refusalText } from './budget-texts.ts';

/** `retry-after` of a request for which the store has not answered in time. */
const AGAIN_MS = 1000;

/** A refused reservation as the error of its request. @param output the longest answer on which the amount rests */
export function refusalError(
  exchange: Exchange,
  { why, account, amount }: ReservationRefusal,
  output: number,
): GatewayError {
  const limitHeaders = account && exhaustedHeaders(exchange, account);
  if (why === 'exceeded' && account)
    return new GatewayError('budget_exceeded', refusalText(account, amount, output), {
      ...(limitHeaders && { limitHeaders }),
      shouldRetry: false,
    });
  const subject = account ? `The budget of ${nameOfBudget(account.budget)}` : 'The budgets of this process';
  return new GatewayError('budget_unavailable', `${subject} cannot be checked at the moment. Try again in a second.`, {
    retryAfterMs: AGAIN_MS,
  });
}

/** A budget that keys share blocks the group. */
const exhaustedHeaders = (
  { operation }: Exchange,
  { budget, span }: Account,
): Readonly<Record<string, string>> | undefined =>
  operation &&
  RATE_DIALECTS[operation.format.name]?.exhausted?.({
    resetsAt: span.end === Infinity ? undefined : span.end,
    isShared: budget.node.kind !== 'key',
  });
