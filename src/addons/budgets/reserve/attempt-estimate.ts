import type { PricesInForce } from '../prices/price-list.ts';
import type { Usage } from '../../../formats/events.ts';
import type { Amounts } from '../limits/reservations.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
import { GatewayError, type Clock } from '../../../plugin/index.ts';
import type { Attempt, BudgetRules, Exchange, ResolvedTarget } from '../../../core/kernel/index.ts';
import { totalOfAll } from '../prices/cost.ts';
import type { LearnedOf } from '../prices/learned-sizes.ts';
import { nanoOf, ONE, picoOf, type Nano } from '../../../core/ports/money.ts';
import type { PriceTier, UnknownPrice } from '../prices/rates.ts';
import { longestAnswer, promptOf, reserve as reserveOf, type ReserveOptions } from '../prices/reserve.ts';
import { placeOf, type SettledCost } from '../record/recorded-cost.ts';
import { count } from '../ledger/ledger-rows.ts';
import type { BudgetState } from './budget-state.ts';
import { unpricedText } from './budget-refusal.ts';
import { limitsOf, readRequestSize, type AttemptSize } from './request-size.ts';

export interface AttemptEstimate {
  readonly amounts: Amounts;
  readonly output: number;
  readonly openEnded: boolean;
  /** Tokens of the prompt and of all answers on which the amounts rest. */
  readonly prompt: number;
  readonly answers: number;
  /** Tokens of all answers if each is as long as it may be. */
  readonly mostOutput: number;
  /** Bytes of the prompt's text; undefined where media are among the bytes. */
  readonly textBytes: number | undefined;
  /** The rule for a price that is not known. Undefined: the price is known, or no budget counts USD. */
  readonly unpriced: 'admit_and_alarm' | AssumedPrice | undefined;
  readonly tier: PriceTier | undefined;
  readonly isPriced: boolean;
}

type AssumedPrice = Exclude<BudgetRules['unknownPrice'], string>;

export interface EstimatorSetup {
  readonly prices: PricesInForce;
  readonly clock: Clock;
  readonly state: BudgetState;
}

interface ModelPrice {
  readonly price: Nano | UnknownPrice;
  readonly resolved: ResolvedTarget;
}

interface EstimateFor {
  /** The first budget of the attempt that counts USD: the price must be known, or the rules say what to assume. */
  readonly inUsd: Budget | undefined;
  readonly hasLedger: boolean;
  readonly rules: BudgetRules;
}

export class AttemptEstimator {
  readonly #setup: EstimatorSetup;

  constructor(setup: EstimatorSetup) {
    this.#setup = setup;
  }

  /** Throws `model_unpriced` where a budget needs a price that is not known, and the rules refuse such requests. */
  estimate(exchange: Exchange, attempt: Attempt, { inUsd, hasLedger, rules }: EstimateFor): AttemptEstimate {
    const resolved = attempt.resolved!;
    const size = readRequestSize(exchange, attempt, resolved, attempt.outbound!);
    const dearest = inUsd || hasLedger ? this.#dearest(exchange, resolved, size, rules) : undefined;
    const price = dearest?.price;
    const unpriced =
      inUsd && typeof price === 'string'
        ? this.#unpriced(exchange, dearest!.resolved, { budget: inUsd, why: price }, rules)
        : undefined;
    const learnedOf = { key: exchange.caller?.keyId, model: nameOfModel(resolved) };
    const { prompt, output, longest } = this.#tokensOf(size, resolved, learnedOf, rules);
    const number = size.request.answers ?? 1;
    const answers = output * number;
    const usd =
      typeof price === 'number' ? price : typeof unpriced === 'object' ? assumed(prompt, answers, unpriced) : 0;
    return {
      amounts: { usd, tokens: prompt + answers },
      output,
      openEnded: size.openEnded,
      prompt,
      answers,
      mostOutput: longest * number,
      textBytes: size.hasMedia ? undefined : size.request.textBytes,
      unpriced,
      tier: size.request.tier,
      isPriced: typeof price === 'number',
    };
  }

  /** Of the dearest model that may be called, with one call of each model of its tools; else of the first without a price. */
  #dearest(exchange: Exchange, resolved: ResolvedTarget, size: AttemptSize, rules: BudgetRules): ModelPrice {
    const learned = this.#setup.state.learned.of({ key: exchange.caller?.keyId, model: nameOfModel(resolved) });
    let price = this.#priceOf(exchange, resolved, size, { learned, mode: size.openEnded ? rules.reserve : 'bound' });
    for (const { name, isTool } of size.furtherModels) {
      if (typeof price === 'string') break;
      const other = { ...resolved, model: name };
      const request = { ...size.request, ...limitsOf(other.provider, name) };
      const further = this.#priceOf(exchange, other, { request }, {});
      if (typeof further === 'string') return { price: further, resolved: other };
      price = isTool ? price + further : Math.max(price, further);
    }
    return { price, resolved };
  }

  #priceOf(
    { startedAt }: Exchange,
    resolved: ResolvedTarget,
    { request }: Pick<AttemptSize, 'request'>,
    options: ReserveOptions,
  ): Nano | UnknownPrice {
    const { prices, clock } = this.#setup;
    return reserveOf(prices.at(startedAt), request, placeOf(resolved, undefined, undefined, clock.wall()), options);
  }

  #unpriced(
    exchange: Exchange,
    resolved: ResolvedTarget,
    about: { readonly budget: Budget; readonly why: UnknownPrice },
    { unknownPrice }: BudgetRules,
  ): NonNullable<AttemptEstimate['unpriced']> {
    if (unknownPrice === 'refuse')
      throw new GatewayError('model_unpriced', unpricedText(about.budget, resolved.model, about.why), {
        budget: about.budget.name,
      });
    if (unknownPrice === 'admit_and_alarm') this.#setup.state.unpriced(exchange.id, resolved.model);
    return unknownPrice;
  }

  #tokensOf({ request, openEnded }: AttemptSize, resolved: ResolvedTarget, of: LearnedOf, { reserve }: BudgetRules) {
    const learned = this.#setup.state.learned.of(of);
    const mode = openEnded ? reserve : 'bound';
    const prompt = promptOf(request, resolved, { learned, mode }).all;
    const longest = longestAnswer(request);
    const typical = mode === 'typical' ? learned.outputP99 : undefined;
    return { prompt, output: Math.ceil(Math.min(typical ?? Infinity, longest)), longest };
  }
}

export const nameOfModel = ({ slug, model }: ResolvedTarget): string => `${slug}/${model}`;

/** Where the provider's charge is not known, the reserve is the most that it can be. */
export function amountsOf(
  { amounts, unpriced }: AttemptEstimate,
  nano: SettledCost['nano'] | UnknownPrice,
  usage: Usage | undefined,
): Amounts {
  const tokens = usage ? count(totalOfAll(usage)) : amounts.tokens;
  if (typeof nano === 'number') return { usd: nano, tokens };
  if (unpriced === 'admit_and_alarm') return { usd: 0, tokens };
  if (!unpriced || !usage) return { usd: amounts.usd, tokens };
  const others = (usage.otherModels ?? []).map((other) => other.usage);
  const sum = (name: 'input' | 'output') => others.reduce((all, other) => all + other[name], usage[name]);
  return { usd: assumed(count(sum('input')), count(sum('output')), unpriced), tokens };
}

const assumed = (input: number, output: number, price: AssumedPrice): Nano =>
  atPrice(input, price.input) + atPrice(output, price.output);

/** @param usd of a million tokens */
const atPrice = (tokens: number, usd: number): Nano => nanoOf(tokens, picoOf(usd, 1e6) ?? Math.ceil(usd * 1e6), ONE);
