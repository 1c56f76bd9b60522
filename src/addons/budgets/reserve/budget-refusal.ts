import { RATE_DIALECTS } from '../../../formats/rate-headers.ts';
import { usdText } from '../../../core/ports/money.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Exchange } from '../../../core/kernel/index.ts';
import type { Account } from '../limits/accounts.ts';
import type { ReservationRefusal } from '../limits/reservations.ts';
import type { UnknownPrice } from '../prices/rates.ts';

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
  const limitHeaders = exchange.operation && RATE_DIALECTS[exchange.operation.format.name]?.unchecked;
  const subject = account ? `The budget ${account.budget.name}` : 'The budgets of this process';
  return new GatewayError('budget_unavailable', `${subject} cannot be checked at the moment. Try again in a second.`, {
    retryAfterMs: AGAIN_MS,
    budget: account?.budget.name,
    ...(limitHeaders && { limitHeaders }),
  });
}

type Headers = Readonly<Record<string, string>>;

const resetsAt = ({ span }: Account): number | undefined => (span.end === Infinity ? undefined : span.end);

/** A budget that keys share blocks the group. @param wall milliseconds since 1970 */
const exhaustedHeaders = ({ operation }: Exchange, account: Account, wall: number): Headers | undefined =>
  operation &&
  RATE_DIALECTS[operation.format.name]?.exhausted?.({
    resetsAt: resetsAt(account),
    period: account.budget.period,
    isShared: account.budget.node.kind !== 'key',
    wall,
  });

/** Describes the budget of the key itself of which the largest share is spent. The caller may not know what others spent of a shared budget. */
export function spentHeaders({ operation }: Exchange, accounts: readonly Account[]): Headers | undefined {
  const write = operation && RATE_DIALECTS[operation.format.name]?.spent;
  if (!write) return undefined;
  const own = accounts.filter(({ budget: { hard, node, amount } }) => hard && amount > 0 && node.kind === 'key');
  const fullest = own.toSorted((one, other) => other.spentShare - one.spentShare)[0];
  return fullest && write({ share: fullest.spentShare, resetsAt: resetsAt(fullest) });
}

/** `12.50 USD`, `2000 tokens`. @param amount nano-USD, or tokens */
export const amountText = (unit: Budget['unit'], amount: number): string =>
  unit === 'usd' ? `${usdText(amount)} USD` : `${amount} tokens`;

export const unpricedText = (budget: Budget, model: string, why: UnknownPrice): string =>
  `The budget ${budget.name} counts USD, and the price of ${model} is not known (${why}).`;

export const cutText = ({ budget }: Account): string =>
  `The budget ${budget.name} (${amountText(budget.unit, budget.amount)}) is used up: the answer was cut because it cost more than was reserved for it.`;

/** The longest answer on which a reserve rests, and how to limit it where the client has not. */
interface AnswerBound {
  readonly output: number;
  readonly limit?: { readonly field: string; readonly setting: string } | undefined;
}

/** Why a request is refused, for its caller. What others have spent of a shared budget is not in it; the rest of an own one is. */
function refusalText({ budget, span, room, free }: Account, amount: number, { output, limit }: AnswerBound): string {
  const { node, unit } = budget;
  const cap = amountText(unit, budget.amount);
  const rest = node.kind === 'key' ? `, of which ${amountText(unit, Math.max(0, room + free))} are left,` : '';
  const long = ` with an answer of at most ${output} tokens`;
  const cure = limit
    ? ` The request does not limit its answer: send \`${limit.field}\`, or have \`${limit.setting}\` of the gateway config limit it.`
    : '';
  const again = span.end === Infinity ? '' : ` It begins anew at ${new Date(span.end).toISOString()}.`;
  return `The budget ${budget.name} (${cap})${rest} cannot cover this request, for which ${amountText(unit, amount)} would be reserved${long}.${again}${cure}`;
}
