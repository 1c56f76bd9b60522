import type { ReservationRefusal } from '../limits/reservations.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Exchange } from '../../../core/kernel/index.ts';
import { exhaustedHeaders, uncheckedHeaders } from './budget-headers.ts';
import { refusalText, type AnswerBound } from './budget-texts.ts';

/** `retry-after` of a request for which the store has not answered in time. */
const AGAIN_MS = 1000;

/** A refused reservation as the error of its request. @param about `output`: the longest answer on which the amount rests; `limit`: of the answer, which the client has not set; `wall`: milliseconds since 1970 */
export function refusalError(
  exchange: Exchange,
  { why, account, amount }: ReservationRefusal,
  about: AnswerBound & { readonly wall: number },
): GatewayError {
  const { wall } = about;
  if (why === 'exceeded' && account) {
    const limitHeaders = exhaustedHeaders(exchange, account, wall);
    return new GatewayError('budget_exceeded', refusalText(account, amount, about), {
      ...(limitHeaders && { limitHeaders }),
      shouldRetry: false,
      budget: account.budget.name,
    });
  }
  const limitHeaders = uncheckedHeaders(exchange);
  const subject = account ? `The budget ${account.budget.name}` : 'The budgets of this process';
  return new GatewayError('budget_unavailable', `${subject} cannot be checked at the moment. Try again in a second.`, {
    retryAfterMs: AGAIN_MS,
    budget: account?.budget.name,
    ...(limitHeaders && { limitHeaders }),
  });
}
