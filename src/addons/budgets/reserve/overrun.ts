import type { Signals, Usage } from '../../../formats/events.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { BudgetRules } from '../../../core/kernel/index.ts';
import type { Amounts, ReservationRefusal } from '../limits/reservations.ts';
import { deliveredTokens, estimatedUsage } from '../../../core/record/booked-usage.ts';
import { cutText } from './budget-refusal.ts';

/** Outcomes of a stream that exceeds its reservation: the reservation grew, or there was no room and the stream went on or was cut. */
export type Overrun = 'grown' | 'continued' | 'cut';

interface WatchSetup {
  readonly bytes: number;
  /** The upstream's usage so far. Undefined for one that cannot be true. */
  readonly usageOf: (signals: Signals) => Usage | undefined;
  readonly held: Amounts;
  /** Tokens that the reserve covers at the prices on which it rests. */
  readonly covered: { readonly prompt: number; readonly output: number };
  /** Tokens of the longest answers that the request allows: the text of a shorter answer can look like more tokens. */
  readonly mostOutput: number;
  /** The cost of the usage so far. @param answered the model that the provider reports */
  readonly amountsOf: (usage: Usage, answered: string | undefined) => Amounts;
  readonly grow: (by: Amounts) => ReservationRefusal | undefined;
  readonly onOverrun: BudgetRules['onOverrun'];
  readonly report: (what: Overrun) => void;
}

/** So much more is reserved than a stream has cost, so that it is not priced at each of its pieces. */
const AHEAD = 0.1;

/** Reserves more while a stream costs more than its reserve, by the upstream's counts, else by the text. Most compare two numbers. */
export function watchStream(setup: WatchSetup): (signals: Signals) => GatewayError | undefined {
  const { bytes, mostOutput, usageOf, amountsOf, onOverrun, report } = setup;
  const reserve = reserver(setup);
  let { prompt, output } = setup.covered;
  let isOver = false;
  return (signals) => {
    const { ended, progress } = signals;
    const usage = usageOf(signals);
    const read = usage?.input ?? 0;
    const delivered = Math.max(usage?.output ?? 0, progress, Math.min(deliveredTokens(signals), mostOutput));
    if (isOver || ended || (delivered <= output && read <= prompt)) return undefined;
    output = delivered;
    prompt = Math.max(prompt, read);
    const refusal = reserve(amountsOf(estimatedUsage({ bytes, counted: usage, delivered }), signals.model));
    // A question for room is under way: the next piece tries again.
    if (!refusal?.account || refusal.why === 'unavailable') return undefined;
    isOver = true;
    report(onOverrun === 'cut' ? 'cut' : 'continued');
    const { account } = refusal;
    if (onOverrun !== 'cut') return undefined;
    return new GatewayError('budget_cut', cutText(account), { budget: account.budget.name });
  };
}

/** Reserves what a cost exceeds the reserve by, with some more if there is room. */
function reserver({ held, grow, report }: WatchSetup): (cost: Amounts) => ReservationRefusal | undefined {
  let { usd, tokens } = held;
  return (cost) => {
    const by = { usd: Math.max(0, cost.usd - usd), tokens: Math.max(0, cost.tokens - tokens) };
    if (by.usd === 0 && by.tokens === 0) return undefined;
    const ahead = { usd: by.usd + Math.ceil(cost.usd * AHEAD), tokens: by.tokens + Math.ceil(cost.tokens * AHEAD) };
    const isAhead = grow(ahead) === undefined;
    const refusal = isAhead ? undefined : grow(by);
    if (refusal) return refusal;
    const grown = isAhead ? ahead : by;
    usd += grown.usd;
    tokens += grown.tokens;
    report('grown');
    return undefined;
  };
}
