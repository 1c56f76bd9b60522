import type { Account } from '../limits/accounts.ts';
import {
  amountIn,
  type Amounts,
  type HoldId,
  type Reservation,
  type ReservationRefusal,
} from '../limits/reservations.ts';
import type { Budget, NodePath, NodeTree } from '../../../core/tenants/tree.ts';
import type {
  Attempt,
  AttemptBudget,
  BudgetRules,
  Caller,
  Exchange,
  RequestBudgets,
  ResolvedTarget,
} from '../../../core/kernel/index.ts';
import type { GatewayError, ReplyEnd } from '../../../plugin/index.ts';
import { believedUsage } from '../../../core/record/booked-usage.ts';
import { comparedName, matches } from '../../../core/catalog/globs.ts';
import { FREE_TASKS, settledCost, placeOf, priceOf } from '../record/recorded-cost.ts';
import type { LedgerRow } from '../../../core/ports/ledger.ts';
import {
  amountsOf,
  AttemptEstimator,
  nameOfModel,
  type AttemptEstimate,
  type EstimatorSetup,
} from './attempt-estimate.ts';
import { refusalError, spentHeaders } from './budget-refusal.ts';
import { answerLimitOf } from './request-size.ts';
import { watchStream } from './overrun.ts';
import { labelsOf, NO_SUMS, named, rowOf } from '../ledger/ledger-rows.ts';
import { payerOf } from '../record/request-prices.ts';
import { geoOf } from '../../../core/record/costs.ts';

interface AttemptReservationsSetup extends EstimatorSetup {
  readonly tree: NodeTree;
  /** Requests that fit into no lease, while the store does not answer: `state.when_down.budgets`. */
  readonly whenDown: 'refuse' | 'allow';
}

/** A hold is settled at its reserve when nothing settled it so long after the deadline of its attempt. */
const LATE_MS = 60_000;
/** A request waits so long for an answer of the store that would give it room. */
const ROOM_MS = 250;

const NONE: readonly Budget[] = [];

interface ReserveJob {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly budgets: readonly Budget[];
  readonly estimate: AttemptEstimate;
  readonly onOverrun: BudgetRules['onOverrun'];
}

export class AttemptReservations implements RequestBudgets {
  readonly #setup: AttemptReservationsSetup;
  readonly #estimator: AttemptEstimator;
  /** The budgets of each path: the same list for all requests of a key. */
  readonly #budgets = new WeakMap<NodePath, readonly Budget[]>();

  constructor(setup: AttemptReservationsSetup) {
    this.#setup = setup;
    this.#estimator = new AttemptEstimator(setup);
  }

  reserve(exchange: Exchange, attempt: Attempt, rules: BudgetRules): Promise<void> | undefined {
    const { state, whenDown, clock } = this.#setup;
    const job = this.#jobOf(exchange, attempt, rules);
    if (!job) return undefined;
    const refusal = this.#hold(job);
    if (!refusal) return state.ledger?.written();
    const answered =
      refusal.why === 'unavailable' && refusal.account ? state.answered(refusal.account, ROOM_MS) : undefined;
    if (!answered) throw this.#refused(job, refusal);
    const since = clock.now();
    return answered.then(() => {
      const again = this.#hold(job, { since, whileDown: whenDown === 'allow' && state.storeIsDown });
      if (again) throw this.#refused(job, again);
      return state.ledger?.written();
    });
  }

  preview(exchange: Exchange, attempt: Attempt, rules: BudgetRules): void {
    const job = this.#jobOf(exchange, attempt, rules);
    if (!job) return;
    const accounts = this.#setup.state.accountsOf(job.budgets);
    const { amounts } = job.estimate;
    const over = accounts.find(({ budget }) => budget.hard && amountIn(amounts, budget) > budget.amount);
    if (over) throw this.#errorOf(job, { why: 'exceeded', account: over, amount: amountIn(amounts, over.budget) });
  }

  /** The amounts to reserve, also noted in the attempt. Undefined: there are none, and no ledger follows the attempt. */
  #jobOf(exchange: Exchange, attempt: Attempt, rules: BudgetRules): ReserveJob | undefined {
    const { resolved, outbound } = attempt;
    if (attempt.budget || !resolved || !outbound || isUnpaid(exchange, attempt)) return undefined;
    const budgets = this.#budgetsFor(exchange, resolved);
    const { state } = this.#setup;
    if (budgets.length === 0 && !state.ledger) return undefined;
    const estimate = this.#estimator.estimate(exchange, attempt, {
      inUsd: budgets.find(({ unit }) => unit === 'usd'),
      hasLedger: state.ledger !== undefined,
      rules,
    });
    if (budgets.length > 0) attempt.budget = noteOf(exchange, state.accountsOf(budgets), estimate);
    return { exchange, attempt, budgets, estimate, onOverrun: rules.onOverrun };
  }

  #budgetsFor({ caller }: Exchange, resolved: ResolvedTarget): readonly Budget[] {
    if (!caller) return NONE;
    const all = this.#budgetsOf(caller);
    if (all.every(({ models }) => models === undefined)) return all;
    return all.filter(({ models }) => models === undefined || models.some((pattern) => isFor(pattern, resolved)));
  }

  #budgetsOf(caller: Caller): readonly Budget[] {
    const path = this.#setup.tree.pathOf(caller);
    let budgets = this.#budgets.get(path);
    if (!budgets) this.#budgets.set(path, (budgets = path.flatMap((node) => node.budgets)));
    return budgets;
  }

  /** The accounts are those of now: while the request waited, a period or a lease may have ended. */
  #hold(job: ReserveJob, again?: Pick<Reservation, 'since' | 'whileDown'>): ReservationRefusal | undefined {
    const { state, clock } = this.#setup;
    const { ledger } = state;
    const { exchange, attempt, budgets, estimate } = job;
    const { amounts } = estimate;
    const until = attempt.deadline + LATE_MS;
    const hold = state.newHold();
    const accounts = state.accountsOf(budgets);
    if (accounts.length > 0) {
      // The ledger has no place for what the request costs, and without it the cap would count too little.
      if (ledger?.isFull && budgets.some(({ hard }) => hard)) return NO_ROOM;
      const refusal = state.reservations.reserve({ ...again, hold, accounts, amounts, until });
      if (refusal) return refusal;
    }
    attempt.reserve = estimate;
    const receivedAt = clock.wall();
    if (attempt.outbound?.stream && accounts.length > 0) this.#watch(job, hold, receivedAt);
    ledger?.send({ hold, accounts, amounts, row: this.#unsettledRow(job, receivedAt), until });
    exchange.onEnd((end) => this.#settle(job, { hold, end, receivedAt }));
    return undefined;
  }

  /** A stream may cost more than its reserve, where that is not an upper bound or the provider ignores the limit of the answer. */
  #watch(job: ReserveJob, hold: HoldId, receivedAt: number): void {
    const { state } = this.#setup;
    const { exchange, attempt, estimate } = job;
    const { amounts, prompt, answers, mostOutput } = estimate;
    const prices = this.#setup.prices.at(exchange.startedAt);
    const resolved = attempt.resolved!;
    attempt.watch = watchStream({
      bytes: exchange.request.bodyBytes,
      usageOf: (signals) => believedUsage(attempt, signals, exchange.request.bodyBytes),
      held: amounts,
      covered: { prompt, output: answers },
      mostOutput,
      amountsOf: (usage, answered) =>
        amountsOf(estimate, priceOf(prices, usage, placeOf(resolved, usage, answered, receivedAt)), usage),
      grow: (by) => state.reservations.grow(hold, by),
      onOverrun: job.onOverrun,
      report: (what) => state.overrun(what),
    });
  }

  /** The row of the ledger if the process ends before the attempt is settled: its cost is the reserve. */
  #unsettledRow({ exchange, attempt, estimate: { amounts, tier, isPriced } }: ReserveJob, wall: number): LedgerRow {
    const payer = payerOf(exchange, this.#setup.prices.at(exchange.startedAt), wall);
    const { slug, model, provider, region } = attempt.resolved!;
    const row = {
      req: payer.req,
      requestId: named(payer.requestId),
      at: Math.floor(wall),
      key: named(exchange.caller?.keyId),
      user: named(payer.user),
      team: named(exchange.caller?.team),
      organization: named(payer.organization),
      config: named(exchange.config?.id),
      priceVersion: payer.priceVersion,
      labels: labelsOf(exchange.metadata, this.#setup.state.ledger?.labels ?? []),
      asked: named(`@${slug}/${model}`),
      model: named(model),
      tier: tier ?? '',
      geo: named(geoOf(provider, region)),
      att: attempt.number,
      kind: 'expired',
      src: isPriced || amounts.usd > 0 ? 'lost' : 'none',
      status: 'lost',
      sums: NO_SUMS,
      nano: amounts.usd,
      held: amounts.usd,
      ms: 0,
      firstMs: undefined,
    } as const;
    return rowOf(row, row, row);
  }

  #settle(
    { exchange, attempt, estimate }: ReserveJob,
    { hold, end, receivedAt }: { readonly hold: HoldId; readonly end: ReplyEnd; readonly receivedAt: number },
  ): void {
    const { state, prices } = this.#setup;
    const cost = settledCost(exchange, attempt, prices.at(exchange.startedAt), { end, receivedAt });
    // Nothing was sent, or the provider refused.
    const isFreed = cost.source === 'none';
    const amounts = isFreed ? NOTHING : amountsOf(estimate, cost.nano, cost.usage);
    if (isFreed) state.reservations.release(hold);
    else state.reservations.settle(hold, amounts);
    state.ledger?.settle(hold, amounts);
    const usage = cost.source === 'reported' ? cost.usage : undefined;
    if (attempt.resolved && usage)
      state.learned.add(
        { key: exchange.caller?.keyId, model: nameOfModel(attempt.resolved) },
        estimate.textBytes,
        usage,
      );
  }

  #refused(job: ReserveJob, refusal: ReservationRefusal): GatewayError {
    this.#setup.state.refused(refusal);
    return this.#errorOf(job, refusal);
  }

  #errorOf({ exchange, attempt, estimate }: ReserveJob, refusal: ReservationRefusal): GatewayError {
    const { output, openEnded } = estimate;
    const limit = openEnded ? answerLimitOf(exchange, attempt) : undefined;
    return refusalError(exchange, refusal, { output, limit, wall: this.#setup.clock.wall() });
  }
}

const NOTHING: Amounts = { usd: 0, tokens: 0 };
const NO_ROOM: ReservationRefusal = { why: 'unavailable', account: undefined, amount: 0 };

/** Providers charge nothing for it, or nothing is sent. */
const isUnpaid = ({ operation }: Exchange, { resolved, outbound }: Attempt): boolean =>
  FREE_TASKS.has(operation?.task) || outbound?.answer !== undefined || resolved?.estimatesTokens === true;

function isFor(pattern: string, { slug, model }: ResolvedTarget): boolean {
  const name = comparedName(model);
  return matches(pattern, name) || matches(pattern, `@${comparedName(slug)}/${name}`);
}

function noteOf(exchange: Exchange, accounts: readonly Account[], { amounts, output }: AttemptEstimate): AttemptBudget {
  const has = (unit: Budget['unit']): boolean => accounts.some(({ budget }) => budget.unit === unit);
  return {
    counted: accounts.map(({ budget }) => budget.name),
    usd: has('usd') ? amounts.usd : undefined,
    tokens: has('tokens') ? amounts.tokens : undefined,
    output,
    warned: accounts
      .filter(({ budget, used, held, others }) => {
        return !budget.hard && used + held + others + amountIn(amounts, budget) > budget.amount;
      })
      .map(({ budget }) => budget.name),
    headers: spentHeaders(exchange, accounts),
  };
}
