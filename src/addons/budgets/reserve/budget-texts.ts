import { usdText } from '../../../core/ports/money.ts';
import type { Account } from '../limits/accounts.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
import type { UnknownPrice } from '../prices/priced-place.ts';

/** `12.50 USD`, `2000 tokens`. @param amount nano-USD, or tokens */
export const amountText = (unit: Budget['unit'], amount: number): string =>
  unit === 'usd' ? `${usdText(amount)} USD` : `${amount} tokens`;

/** Why a request to a model without a known price is refused, for its caller. */
export const unpricedText = (budget: Budget, model: string, why: UnknownPrice): string =>
  `The budget ${budget.name} counts USD, and the price of ${model} is not known (${why}).`;

/** Why a stream was cut, for its caller. */
export const cutText = ({ budget }: Account): string =>
  `The budget ${budget.name} (${amountText(budget.unit, budget.amount)}) is used up: the answer was cut because it cost more than was reserved for it.`;

/** The longest answer on which a reserve rests, and how to limit it where the client has not. */
export interface AnswerBound {
  readonly output: number;
  readonly limit?: { readonly field: string; readonly setting: string } | undefined;
}

/**
 * Why a request is refused, for its caller. What is spent of a budget that others share is not in it, because it is what others have
 * spent; of the key's own budget the rest is named.
 */
export function refusalText(
  { budget, span, room, free }: Account,
  amount: number,
  { output, limit }: AnswerBound,
): string {
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
