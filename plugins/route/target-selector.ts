import { failureKinds, GatewayError, UpstreamError, type Clock } from '../../src/plugin/index.ts';
import {
  isFinalForModel,
  fallsThroughTo,
  toGatewayError,
  type AttemptRunner,
  type ChoiceReason,
  type Conditional,
  type GatewayConfig,
  type GatewayContext,
  type FallThroughRules,
  type Group,
  type HealthDirectory,
  type HealthTrial,
  type Route,
  type SkippedTarget,
  type Target,
  type TargetHealth,
} from '../../src/core/kernel/index.ts';
import { reasonAgainst, type ModelRefusal, isForbidden, isOfTheTarget, moreUseful } from './models.ts';
import { orderOf } from './order.ts';

export interface SelectorTools {
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Failure {
  readonly failure: unknown;
  /** A group's rules let the failure fall through. */
  readonly fellThrough: boolean;
}

/** Outcome of a subtree: a target answered, every target was skipped, or the last one failed. */
type SubtreeOutcome = 'answered' | 'skipped' | Failure;

/** The state after an assumed failure, used to predict whether another target would be tried. */
interface Aftermath {
  readonly refusals: readonly ModelRefusal[];
  /** Targets with an open breaker may be tried as a last resort. */
  readonly lastResort: boolean;
}

/** Whether a target outside the subtree would be tried after this failure. */
type FallsThrough = (error: GatewayError) => boolean;

/**
 * Walks the strategy tree. A target is tried, or skipped because its breaker is open or it would refuse as well. A
 * group tries its next member after a failure that its rules let fall through.
 */
export class TargetSelector {
  readonly #ctx: GatewayContext;
  readonly #config: GatewayConfig;
  readonly #tools: SelectorTools;
  #refusals = NONE;
  #reported: unknown;

  constructor(ctx: GatewayContext, config: GatewayConfig, tools: SelectorTools) {
    this.#ctx = ctx;
    this.#config = config;
    this.#tools = tools;
  }

  run(): Promise<void> | undefined {
    const { exchange } = this.#ctx;
    if (this.#isOutOfTime()) {
      const ms = Math.round(exchange.deadline - exchange.startedAt);
      throw new GatewayError(
        'timeout_request',
        `The request's deadline of ${ms} ms passed before any target was tried.`,
      );
    }
    const outcome = this.#visit(this.#config.route, 'only', never);
    return outcome instanceof Promise ? outcome.then((one) => this.#finish(one)) : this.#finish(outcome);
  }

  #finish(outcome: SubtreeOutcome): Promise<void> | undefined {
    return outcome === 'answered' ? undefined : this.#giveUp(outcome);
  }

  async #giveUp(outcome: Exclude<SubtreeOutcome, 'answered'>): Promise<void> {
    const last = this.#lastResort(outcome);
    if (last && (await this.#try(last, 'last_resort', never)) === 'answered') return;
    throw this.#reported ?? new GatewayError('internal_error', `${this.#config.route.path} has no target to try.`);
  }

  #visit(route: Route, reason: ChoiceReason, around: FallsThrough): Promise<SubtreeOutcome> | SubtreeOutcome {
    if (route.kind === 'group') return this.#visitGroup(route, reason, around);
    if (route.kind === 'conditional') {
      const { member, why, condition } = this.#chosenOf(route);
      const { exchange } = this.#ctx;
      const tests = route.compared?.(exchange);
      exchange.conditions.push({ at: route.path, condition, to: member.path, ...(tests && { tests }) });
      return this.#visit(member, reason === 'fallback' ? reason : why, around);
    }
    const skip = this.#reasonToSkip(route, this.#refusals);
    if (skip === undefined) return this.#try(route, reason, around);
    const { exchange } = this.#ctx;
    exchange.skipped.push({ target: route, reason: skip, after: exchange.attempts.length });
    return 'skipped';
  }

  /**
   * Of the targets with an open breaker, the one whose cooldown ends first. Trying none would make an outage of a
   * partial failure, or show the caller that its request is invalid at the others.
   */
  #lastResort(outcome: Exclude<SubtreeOutcome, 'answered'>): Target | undefined {
    if (outcome === 'skipped') return this.#soonestRetry(this.#refusals);
    const { failure, fellThrough } = outcome;
    const mayContinue = (fellThrough && isOfTheTarget(failure)) || isForbidden(failure);
    return mayContinue && !this.#isOver() ? this.#soonestRetry(this.#refusals) : undefined;
  }

  #soonestRetry(refusals: readonly ModelRefusal[]): Target | undefined {
    const { skipped, request } = this.#ctx.exchange;
    const retryAt = (target: Target): number => this.#healthOf(target).retryAt;
    return skipped
      .flatMap(({ target, reason }) => (reason === 'circuit_open' ? [target] : []))
      .filter((target) => reasonAgainst(target, refusals, request.body) === undefined)
      .toSorted((one, other) => retryAt(one) - retryAt(other))[0];
  }

  #chosenOf({ branches, otherwise }: Conditional): {
    member: Route;
    why: ChoiceReason;
    condition: number | undefined;
  } {
    const index = branches.findIndex(({ holds }) => holds(this.#ctx.exchange));
    const branch = branches[index];
    if (!branch) return { member: otherwise, why: 'otherwise', condition: undefined };
    return { member: branch.member, why: 'condition', condition: index };
  }

  /** A `single` group has one member, so it is a fallback without a second choice. */
  async #visitGroup(group: Group, reason: ChoiceReason, around: FallsThrough): Promise<SubtreeOutcome> {
    const { order, reason: drawn } = orderOf(group, this.#ctx.exchange, this.#tools);
    const tried = new Set<Route>();
    const fallsThrough: FallsThrough = (error) =>
      (!this.#isSpent() && fallsThroughTo(group.fallsThrough, error) && this.#hasMore(group, tried, error)) ||
      around(error);
    let why = reason === 'fallback' ? reason : (drawn ?? reason);
    let outcome: SubtreeOutcome = 'skipped';
    for (const member of order) {
      tried.add(member);
      const next = await this.#visit(member, why, fallsThrough);
      if (next === 'answered') return next;
      if (next !== 'skipped') {
        const { failure } = next;
        if (!this.#mayContinue(failure, group.fallsThrough)) return next;
        outcome = { failure, fellThrough: true };
      }
      if (outcome !== 'skipped' || group.mode === 'fallback') why = 'fallback';
    }
    return outcome;
  }

  #mayContinue(failure: unknown, rules: FallThroughRules): boolean {
    return !this.#isOver() && failure instanceof GatewayError && fallsThroughTo(rules, failure);
  }

  #isOver(): boolean {
    return this.#ctx.exchange.cancellation.reason !== undefined || this.#isOutOfTime() || this.#isSpent();
  }

  /** A form that passes through as it arrives can be sent to one target. */
  #isSpent(): boolean {
    return this.#ctx.exchange.request.form?.spent === true;
  }

  #isOutOfTime(): boolean {
    return this.#tools.clock.now() >= this.#ctx.exchange.deadline;
  }

  #hasMore(group: Group, tried: ReadonlySet<Route>, error: GatewayError): boolean {
    const running = this.#ctx.exchange.attempts.at(-1)?.target;
    const after = {
      refusals: running ? this.#refusalsAfter(running, error) : this.#refusals,
      lastResort: isOfTheTarget(error),
    };
    if (after.lastResort && this.#soonestRetry(after.refusals)) return true;
    return group.members.some(
      (member, index) => !tried.has(member) && isInUse(group, index) && this.#wouldTry(member, after),
    );
  }

  #wouldTry(route: Route, after: Aftermath): boolean {
    if (route.kind === 'target') {
      const skip = this.#reasonToSkip(route, after.refusals);
      return skip === undefined || (after.lastResort && skip === 'circuit_open');
    }
    if (route.kind === 'conditional') return this.#wouldTry(this.#chosenOf(route).member, after);
    return route.members.some((member, index) => isInUse(route, index) && this.#wouldTry(member, after));
  }

  #reasonToSkip(target: Target, refusals: readonly ModelRefusal[]): SkippedTarget['reason'] | undefined {
    const against = refusals.length > 0 ? reasonAgainst(target, refusals, this.#ctx.exchange.request.body) : undefined;
    // Without an alternative, a breaker would only replace one failure by another.
    if (against !== undefined || this.#config.route === target) return against;
    return this.#healthOf(target).admits ? undefined : 'circuit_open';
  }

  #healthOf(target: Target): TargetHealth {
    return this.#tools.health.of(this.#config, target, this.#ctx.exchange);
  }

  #refusalsAfter(target: Target, error: GatewayError): readonly ModelRefusal[] {
    if (!isFinalForModel(error)) return this.#refusals;
    return [...this.#refusals, { target, tooLong: error.code === 'context_length_exceeded' }];
  }

  #try(target: Target, reason: ChoiceReason, fallsThrough: FallsThrough): Promise<SubtreeOutcome> {
    const { attempts } = this.#tools;
    const trial = this.#healthOf(target).begin();
    const why = trial.probe && reason !== 'last_resort' ? 'probe' : reason;
    return attempts.run(this.#ctx, target, { reason: why, fallsThrough }).then(
      () => {
        this.#win(trial);
        return 'answered';
      },
      (failure: unknown) => {
        this.#lose(target, trial, failure);
        return { failure, fellThrough: false };
      },
    );
  }

  #lose(target: Target, trial: HealthTrial, thrown: unknown): void {
    const error = toGatewayError(thrown);
    if (this.#countsAgainstTarget(error)) trial.failed(error);
    else trial.abandoned();
    this.#refusals = this.#refusalsAfter(target, error);
    this.#reported = moreUseful(this.#reported, thrown);
  }

  /** The target has delivered content, so it is healthy. A later break of the stream still counts against it. */
  #win(trial: HealthTrial): void {
    const { exchange } = this.#ctx;
    // Answered from the cache, by an identical request or by a plugin: nothing was sent.
    if (exchange.attempts.at(-1)?.tries.length === 0 || this.#isAdHoc()) return trial.abandoned();
    trial.succeeded();
    const { reply } = exchange;
    if (!reply || Buffer.isBuffer(reply.body)) return;
    exchange.onEnd(({ error }) => {
      if (error && countsAgainstTarget(error) && error.code !== 'timeout_total') trial.failed(error);
    });
  }

  /** A silent target counts even when the operator's deadline was short: it used all of it. */
  #countsAgainstTarget(error: GatewayError): boolean {
    const { attempts, cancellation, request } = this.#ctx.exchange;
    if (cancellation.reason || this.#isAdHoc()) return false;
    if (error.code !== 'timeout_request') return countsAgainstTarget(error);
    return (
      error instanceof UpstreamError &&
      !error.ofGateway &&
      attempts.length === 1 &&
      request.header('request-timeout') === undefined
    );
  }

  /** The caller itself chose the destination: its outcome does not count for the target's health. */
  #isAdHoc(): boolean {
    const { attempts, request } = this.#ctx.exchange;
    return attempts.at(-1)?.resolved?.adHoc === true || request.header('custom-host') !== undefined;
  }
}

const never: FallsThrough = () => false;

const NONE: readonly ModelRefusal[] = [];

const isInUse = ({ mode, weights }: Group, index: number): boolean => mode !== 'loadbalance' || weights[index] !== 0;

/** Whether the failure counts against the target's health: not the gateway's own state, nor the request's time. */
const countsAgainstTarget = (error: GatewayError): boolean =>
  error instanceof UpstreamError && !error.ofGateway && failureKinds(error).length > 0;
