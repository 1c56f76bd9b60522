import { geoOf, placeOf, priceOf } from '../../record/cost-place.ts';
import { payerOf } from '../../record/payer.ts';
import { isFree, settledCost, type SettledCost } from '../../record/recorded-cost.ts';
import {
  GatewayError,
  type Attempt,
  type AttemptBudget,
  type RequestBudgets,
  type BudgetRules,
  type Clock,
  type Exchange,
  type ReplyEnd,
  type ResolvedTarget,
} from '../../plugin/index.ts';
import type { Account } from '../../governance/accounts.ts';
import type { BudgetAccounting } from '../../governance/budget-accounting.ts';
import type { Amounts, ReservationRefusal } from '../../governance/reservations.ts';
import type { Budget, NodePath, NodeTree } from '../../governance/tree.ts';
import { matches } from '../../prices/model-pattern.ts';
import type { Usage } from '../../formats/events.ts';
import { RATE_DIALECTS } from '../../formats/rate-headers.ts';
import { picoOf, nanoOf, ONE, type Nano } from '../../prices/money.ts';
import type { LearnedOf, LearnedSizes } from '../../prices/learned-sizes.ts';
import type { PricesInForce } from '../../prices/prices-in-force.ts';
import type { UnknownPrice } from '../../prices/priced-place.ts';
import { longestAnswer, reserve as reserveOf, tokensPerByte } from '../../prices/reserve.ts';
import type { PriceTier } from '../../prices/rates.ts';
import type { LedgerRow } from '../../state/ledger.ts';
import { count, lostRow, named } from '../ledger/ledger-rows.ts';
import type { RequestLedger } from '../ledger/request-ledger.ts';
import { readRequestSize, type AttemptSize } from './request-size.ts';
import { watchStream, type Overrun } from './overrun.ts';
import { refusalText, nameOfBudget } from './budget-texts.ts';

export interface AttemptReservationsSetup {
  readonly tree: NodeTree;
  readonly prices: PricesInForce;
  readonly accounting: BudgetAccounting;
  readonly learned: LearnedSizes;
  readonly clock: Clock;
  /** Requests that fit into no lease, while the store does not answer: `state.when_down.budgets`. */
  readonly whenDown: 'refuse' | 'allow';
  /** A request was sent although its price is not known. */
  readonly onUnpriced: (exchange: Exchange, resolved: ResolvedTarget) => void;
  readonly onRefused: (budget: Budget | undefined, why: ReservationRefusal['why']) => void;
  /** A stream costs more than its reserve. */
  readonly onOverrun: (what: Overrun) => void;
  /** Follows what is sent. Undefined: there is no state store. */
  readonly ledger?: RequestLedger | undefined;
}

/** A hold is settled at its reserve when nothing settled it so long after the deadline of its attempt. */
const LATE_MS = 60_000;
/** A request waits so long for an answer of the store that would give it room. */
const ROOM_MS = 250;
/** `retry-after` of a request for which the store has not answered in time. */
const AGAIN_MS = 1000;

const NONE: readonly Budget[] = [];

/** What is to be reserved for one attempt. */
interface Job {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly budgets: readonly Budget[];
  readonly amounts: Amounts;
  /** The longest answer on which the amounts rest. */
  readonly output: number;
  /** Tokens of the prompt and of all answers on which the amounts rest. */
  readonly prompt: number;
  readonly answers: number;
  /** Tokens of all answers if each is as long as it may be. */
  readonly mostOutput: number;
  readonly onOverrun: BudgetRules['onOverrun'];
  /** Of the prompt; undefined where media are among the bytes. */
  readonly textBytes: number | undefined;
  /** The price was not known, and the request is sent all the same. */
  readonly unpriced: 'admit_and_alarm' | AssumedPrice | undefined;
  readonly tier: PriceTier | undefined;
  /** The amount in USD is that of a price list. */
  readonly isPriced: boolean;
}

type AssumedPrice = Exclude<BudgetRules['unknownPrice'], string>;

interface Reserved extends Job {
  readonly hold: number;
}

/** What is known of an attempt before it is sent. */
interface Sizes {
  readonly asked: AttemptSize;
  /** What it can cost; undefined where nothing needs it. */
  readonly price: Nano | UnknownPrice | undefined;
}

/** Reserves what attempts can cost, and settles what they have cost. */
export class AttemptReservations implements RequestBudgets {
  readonly #setup: AttemptReservationsSetup;
  /** The budgets of each path: the same list for all requests of a key. */
  readonly #budgets = new WeakMap<NodePath, readonly Budget[]>();

  constructor(setup: AttemptReservationsSetup) {
    this.#setup = setup;
  }

  reserve(exchange: Exchange, attempt: Attempt, rules: BudgetRules): Promise<void> | undefined {
    const { ledger } = this.#setup;
    const job = this.#jobOf(exchange, attempt, rules);
    if (!job) return undefined;
    const refusal = this.#hold(job);
    if (!refusal) return ledger?.written();
    const answered =
      refusal.why === 'unavailable' && refusal.account ? this.#setup.accounting.answered(ROOM_MS) : undefined;
    if (!answered) throw this.#refused(job, refusal);
    return answered.then(() => {
      const { accounting, whenDown } = this.#setup;
      const again = this.#hold(job, whenDown === 'allow' && accounting.storeIsDown);
      if (again) throw this.#refused(job, again);
      return ledger?.written();
    });
  }

  preview(exchange: Exchange, attempt: Attempt, rules: BudgetRules): void {
    const job = this.#jobOf(exchange, attempt, rules);
    if (!job) return;
    const accounts = this.#setup.accounting.accountsOf(job.budgets);
    const over = accounts.find(({ budget }) => budget.hard && amountOf(job.amounts, budget) > budget.amount);
    if (over) throw this.#refused(job, { why: 'exceeded', account: over, amount: amountOf(job.amounts, over.budget) });
  }

  /** What is to be reserved, noted in the attempt. Undefined: nothing, and no ledger follows what is sent. */
  #jobOf(exchange: Exchange, attempt: Attempt, rules: BudgetRules): Job | undefined {
    const { resolved, outbound } = attempt;
    if (attempt.budget || !resolved || !outbound || isUnpaid(exchange, attempt)) return undefined;
    const budgets = this.#budgetsFor(exchange, resolved);
    const { ledger } = this.#setup;
    if (budgets.length === 0 && !ledger) return undefined;
    const asked = readRequestSize(exchange, attempt, resolved, outbound);
    const countsUsd = budgets.some(({ unit }) => unit === 'usd');
    const price = countsUsd || ledger ? this.#priceOf(exchange, attempt, asked, rules) : undefined;
    const job = this.#amountsFor({ exchange, attempt, budgets }, { asked, price }, rules);
    if (budgets.length > 0)
      attempt.budget = noteOf(this.#setup.accounting.accountsOf(budgets), job.amounts, job.output);
    return job;
  }

  #amountsFor(
    { exchange, attempt, budgets }: Pick<Job, 'exchange' | 'attempt' | 'budgets'>,
    { asked, price }: Sizes,
    rules: BudgetRules,
  ): Job {
    const resolved = attempt.resolved!;
    const countsUsd = budgets.some(({ unit }) => unit === 'usd');
    const unpriced =
      countsUsd && typeof price === 'string' ? this.#unpriced(exchange, resolved, price, rules) : undefined;
    const { prompt, output, longest } = this.#tokensOf(
      asked,
      { key: exchange.caller?.keyId, model: nameOfModel(resolved) },
      rules,
    );
    const number = asked.asked.answers ?? 1;
    const answers = output * number;
    const usd =
      typeof price === 'number' ? price : typeof unpriced === 'object' ? assumed(prompt, answers, unpriced) : 0;
    const textBytes = asked.hasMedia ? undefined : asked.asked.textBytes;
    const amounts = { usd, tokens: prompt + answers };
    const { tier } = asked.asked;
    return {
      exchange,
      attempt,
      budgets,
      amounts,
      output,
      prompt,
      answers,
      mostOutput: longest * number,
      textBytes,
      unpriced,
      onOverrun: rules.onOverrun,
      tier,
      isPriced: typeof price === 'number',
    };
  }

  #budgetsFor({ caller }: Exchange, resolved: ResolvedTarget): readonly Budget[] {
    if (!caller) return NONE;
    const all = this.#budgetsOf(caller.keyId);
    if (all.every(({ models }) => models === undefined)) return all;
    return all.filter(({ models }) => models === undefined || models.some((pattern) => isFor(pattern, resolved)));
  }

  #budgetsOf(keyId: string): readonly Budget[] {
    const path = this.#setup.tree.pathOf(keyId);
    let budgets = this.#budgets.get(path);
    if (!budgets) this.#budgets.set(path, (budgets = path.flatMap((node) => node.budgets)));
    return budgets;
  }

  #priceOf(
    { startedAt, caller }: Exchange,
    attempt: Attempt,
    { asked, openEnded }: AttemptSize,
    rules: BudgetRules,
  ): Nano | UnknownPrice {
    const { prices, learned, clock } = this.#setup;
    const resolved = attempt.resolved!;
    const place = placeOf(resolved, undefined, undefined, clock.wall());
    return reserveOf(prices.at(startedAt), asked, place, {
      learned: learned.of({ key: caller?.keyId, model: nameOfModel(resolved) }),
      mode: openEnded ? rules.reserve : 'bound',
    });
  }

  #unpriced(
    exchange: Exchange,
    resolved: ResolvedTarget,
    why: UnknownPrice,
    { unknownPrice }: BudgetRules,
  ): NonNullable<Job['unpriced']> {
    if (unknownPrice === 'refuse')
      throw new GatewayError(
        'model_unpriced',
        `A budget of this key counts USD, and the price of ${resolved.model} is not known (${why}).`,
      );
    if (unknownPrice === 'admit_and_alarm') this.#setup.onUnpriced(exchange, resolved);
    return unknownPrice;
  }

  /** Of the prompt and of one answer. */
  #tokensOf({ asked, openEnded }: AttemptSize, of: LearnedOf, { reserve }: BudgetRules) {
    const learned = this.#setup.learned.of(of);
    const mode = openEnded ? reserve : 'bound';
    const prompt = Math.min(Math.ceil(asked.textBytes * tokensPerByte(learned, mode)), asked.window ?? Infinity);
    const longest = longestAnswer(asked);
    const typical = mode === 'typical' ? learned.outputP99 : undefined;
    return { prompt, output: Math.ceil(Math.min(typical ?? Infinity, longest)), longest };
  }

  /** The accounts are those of now: while the request waited, a period or a lease may have ended. */
  #hold(job: Job, whileDown = false): ReservationRefusal | undefined {
    const { accounting, clock, ledger } = this.#setup;
    const { exchange, attempt, budgets, amounts } = job;
    const until = attempt.deadline + LATE_MS;
    const hold = accounting.newHold();
    const accounts = accounting.accountsOf(budgets);
    if (accounts.length > 0) {
      // The ledger has no place for what the request costs, and without it the cap would count too little.
      if (ledger?.isFull && budgets.some(({ hard }) => hard)) return NO_ROOM;
      const refusal = accounting.reservations.reserve({ hold, accounts, amounts, until, whileDown });
      if (refusal) return refusal;
    }
    const receivedAt = clock.wall();
    if (attempt.outbound?.stream && accounts.length > 0) this.#watch(job, hold, receivedAt);
    ledger?.send({ hold, accounts, amounts, row: this.#rowOf(job, receivedAt), until });
    exchange.onEnd((end) => this.#settle({ ...job, hold }, end, receivedAt));
    return undefined;
  }

  /** A stream may cost more than its reserve, where that is not an upper bound or the provider ignores the limit of the answer. */
  #watch(job: Job, hold: number, receivedAt: number): void {
    const { accounting, onOverrun } = this.#setup;
    const { exchange, attempt, amounts, prompt, answers, mostOutput } = job;
    const prices = this.#setup.prices.at(exchange.startedAt);
    const resolved = attempt.resolved!;
    attempt.watch = watchStream({
      bytes: exchange.request.bodyBytes,
      held: amounts,
      covered: { prompt, output: answers },
      mostOutput,
      amountsOf: (usage, answered) =>
        amountsOf(job, priceOf(prices, usage, placeOf(resolved, usage, answered, receivedAt)), usage),
      grow: (by) => accounting.reservations.grow(hold, by),
      onOverrun: job.onOverrun,
      report: onOverrun,
    });
  }

  /** The row of the ledger if the process ends before the request does. */
  #rowOf({ exchange, attempt, amounts, tier, isPriced }: Job, at: number): LedgerRow {
    const { req, organization, user, priceVersion } = payerOf(exchange, this.#setup.prices.at(exchange.startedAt), at);
    const { slug, model, provider, region } = attempt.resolved!;
    return lostRow({
      req,
      att: attempt.number,
      at: Math.floor(at),
      key: named(exchange.caller?.keyId),
      user: named(user),
      team: named(exchange.caller?.team),
      organization: named(organization),
      config: named(exchange.config?.id),
      asked: named(`@${slug}/${model}`),
      model: named(model),
      src: isPriced || amounts.usd > 0 ? 'lost' : 'none',
      tier: tier ?? '',
      geo: named(geoOf(provider, region)),
      priceVersion,
      held: amounts.usd,
    });
  }

  /** By the costs that the record of the request has. */
  #settle(reserved: Reserved, end: ReplyEnd, receivedAt: number): void {
    const { accounting, prices, learned, ledger } = this.#setup;
    const { exchange, attempt, hold, textBytes } = reserved;
    const cost = settledCost(exchange, attempt, prices.at(exchange.startedAt), { end, receivedAt });
    // Nothing was sent, or the provider refused.
    const isFreed = cost.source === 'none';
    const amounts = isFreed ? NOTHING : amountsOf(reserved, cost.nano, cost.usage);
    if (isFreed) accounting.reservations.release(hold);
    else accounting.reservations.settle(hold, amounts);
    ledger?.settle(hold, amounts);
    const usage = cost.source === 'reported' ? attempt.signals?.usage : undefined;
    if (attempt.resolved && usage)
      learned.add({ key: exchange.caller?.keyId, model: nameOfModel(attempt.resolved) }, textBytes, usage);
  }

  #refused({ exchange, output }: Job, { why, account, amount }: ReservationRefusal): GatewayError {
    this.#setup.onRefused(account?.budget, why);
    const limitHeaders = account && exhaustedHeaders(exchange, account);
    if (why === 'exceeded' && account)
      return new GatewayError('budget_exceeded', refusalText(account, amount, output), {
        ...(limitHeaders && { limitHeaders }),
        shouldRetry: false,
      });
    const whose = account ? `The budget of ${nameOfBudget(account.budget)}` : 'The budgets of this process';
    return new GatewayError('budget_unavailable', `${whose} cannot be checked at the moment. Try again in a second.`, {
      retryAfterMs: AGAIN_MS,
    });
  }
}

const NOTHING: Amounts = { usd: 0, tokens: 0 };
const NO_ROOM: ReservationRefusal = { why: 'unavailable', account: undefined, amount: 0 };

/** Providers charge nothing for it, or nothing is sent. */
const isUnpaid = ({ operation }: Exchange, { resolved, outbound }: Attempt): boolean =>
  isFree(operation?.task) || outbound?.answer !== undefined || resolved?.estimatesTokens === true;

const amountOf = ({ usd, tokens }: Amounts, { unit }: Budget): number => (unit === 'usd' ? usd : tokens);

const nameOfModel = ({ slug, model }: ResolvedTarget): string => `${slug}/${model}`;

const isFor = (pattern: string, { slug, model }: ResolvedTarget): boolean =>
  matches(pattern, model) || matches(pattern, `@${slug}/${model}`);

/** Where the provider's charge is not known, the reserve is the most that it can be. */
function amountsOf(
  { amounts, unpriced }: Job,
  nano: SettledCost['nano'] | UnknownPrice,
  usage: Usage | undefined,
): Amounts {
  const tokens = usage ? count(usage.total) : amounts.tokens;
  if (typeof nano === 'number') return { usd: nano, tokens };
  if (unpriced === 'admit_and_alarm') return { usd: 0, tokens };
  if (!unpriced || !usage) return { usd: amounts.usd, tokens };
  return { usd: assumed(count(usage.input), count(usage.output), unpriced), tokens };
}

/** At the price that the settings assume. */
const assumed = (input: number, output: number, price: AssumedPrice): Nano =>
  atPrice(input, price.input) + atPrice(output, price.output);

/** @param usd of a million tokens */
const atPrice = (tokens: number, usd: number): Nano => nanoOf(tokens, picoOf(usd, 1e6) ?? Math.ceil(usd * 1e6), ONE);

function noteOf(accounts: readonly Account[], amounts: Amounts, output: number | undefined): AttemptBudget {
  const has = (unit: Budget['unit']): boolean => accounts.some(({ budget }) => budget.unit === unit);
  return {
    counted: accounts.map(({ budget }) => nameOfBudget(budget)),
    usd: has('usd') ? amounts.usd : undefined,
    tokens: has('tokens') ? amounts.tokens : undefined,
    output,
    warned: accounts
      .filter(({ budget, used, held, others }) => {
        return !budget.hard && used + held + others + amountOf(amounts, budget) > budget.amount;
      })
      .map(({ budget }) => nameOfBudget(budget)),
  };
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
