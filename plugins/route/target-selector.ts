import {
  GatewayError,
  isFinalForModel,
  fallsThroughTo,
  countsAgainstTarget,
  toGatewayError,
  UpstreamError,
  type AttemptRunner,
  type ChoiceReason,
  type Clock,
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
} from '../../src/plugin/index.ts';
import { reasonAgainst, type ModelRefusal } from './models.ts';
import { orderOf } from './order.ts';
import { isForbidden, isOfTheTarget, moreUseful } from './describe.ts';

export interface SelectorTools {
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Failure {
  readonly failure: unknown;
  /** The rules of a group let somebody else be asked. */
  readonly fellThrough: boolean;
}

/** What became of a part of the tree: it answered, none of its targets may be tried, or its last one failed. */
type Outcome = 'answered' | 'skipped' | Failure;

/** What a failure would leave to be tried. */
interface Aftermath {
  readonly refusals: readonly ModelRefusal[];
  /** Those too whose breaker is open, as the last resort. */
  readonly leftAlone: boolean;
}

/** Whether somebody outside a part of the tree would be asked after this failure. */
type GivesWay = (error: GatewayError) => boolean;

/**
 * One request's way through the strategy tree. A target is tried, or left out because its breaker is open or because it could do
 * no better; a group asks its next member after a failure its rules let go on, and is itself a member of the group around it.
 */
export class TargetSelector {
  readonly #ctx: GatewayContext;
  readonly #config: GatewayConfig;
  readonly #tools: SelectorTools;
  /** Models that will not take this request, whatever target asks them. */
  #refusals = NONE;
  /** What the client is told when nobody answers. */
  #reported: unknown;

  constructor(ctx: GatewayContext, config: GatewayConfig, tools: SelectorTools) {
    this.#ctx = ctx;
    this.#config = config;
    this.#tools = tools;
  }

  /** Throws what the client should be told when no target has answered. */
  async run(): Promise<void> {
    const { exchange } = this.#ctx;
    if (this.#isOutOfTime()) {
      const ms = Math.round(exchange.deadline - exchange.startedAt);
      throw new GatewayError(
        'timeout_request',
        `The request's deadline of ${ms} ms passed before any target was asked.`,
      );
    }
    const outcome = await this.#visit(this.#config.route, 'only', nobody);
    if (outcome === 'answered') return;
    const last = this.#lastResort(outcome);
    if (last && (await this.#try(last, 'last_resort', nobody)) === 'answered') return;
    throw this.#reported ?? new GatewayError('internal_error', `${this.#config.route.path} has no target to try.`);
  }

  #visit(route: Route, reason: ChoiceReason, around: GivesWay): Promise<Outcome> | Outcome {
    if (route.kind === 'group') return this.#visitGroup(route, reason, around);
    if (route.kind === 'conditional') {
      const { member, why, condition } = this.#chosenOf(route);
      this.#ctx.exchange.conditions.push({ at: route.path, condition, to: member.path });
      return this.#visit(member, reason === 'fallback' ? reason : why, around);
    }
    const skip = this.#reasonToSkip(route, this.#refusals);
    if (skip === undefined) return this.#try(route, reason, around);
    const { exchange } = this.#ctx;
    exchange.skipped.push({ target: route, reason: skip, after: exchange.attempts.length });
    return 'skipped';
  }

  /**
   * Of the targets that were left alone, the one whose time ends soonest. Trying none would turn a bad time into an outage, and
   * where all others cannot take such a request the caller would be told that the request is wrong.
   */
  #lastResort(outcome: Exclude<Outcome, 'answered'>): Target | undefined {
    if (outcome === 'skipped') return this.#soonest(this.#refusals);
    const { failure, fellThrough } = outcome;
    const mayGoOn = (fellThrough && isOfTheTarget(failure)) || isForbidden(failure);
    return mayGoOn && !this.#isOver() ? this.#soonest(this.#refusals) : undefined;
  }

  #soonest(refusals: readonly ModelRefusal[]): Target | undefined {
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
  async #visitGroup(group: Group, reason: ChoiceReason, around: GivesWay): Promise<Outcome> {
    const { order, reason: drawn } = orderOf(group, this.#ctx.exchange, this.#tools);
    const asked = new Set<Route>();
    const fallsThrough: GivesWay = (error) =>
      (fallsThroughTo(group.fallsThrough, error) && this.#hasMore(group, asked, error)) || around(error);
    let why = reason === 'fallback' ? reason : (drawn ?? reason);
    let outcome: Outcome = 'skipped';
    for (const member of order) {
      asked.add(member);
      const next = await this.#visit(member, why, fallsThrough);
      if (next === 'answered') return next;
      if (next !== 'skipped') {
        const { failure } = next;
        if (!this.#goesOn(failure, group.fallsThrough)) return next;
        outcome = { failure, fellThrough: true };
      }
      if (outcome !== 'skipped' || group.mode === 'fallback') why = 'fallback';
    }
    return outcome;
  }

  #goesOn(failure: unknown, rules: FallThroughRules): boolean {
    return !this.#isOver() && failure instanceof GatewayError && fallsThroughTo(rules, failure);
  }

  #isOver(): boolean {
    return this.#ctx.exchange.cancellation.reason !== undefined || this.#isOutOfTime();
  }

  #isOutOfTime(): boolean {
    return this.#tools.clock.now() >= this.#ctx.exchange.deadline;
  }

  /** Another member would be tried if the attempt that is running failed with this. */
  #hasMore(group: Group, asked: ReadonlySet<Route>, error: GatewayError): boolean {
    const running = this.#ctx.exchange.attempts.at(-1)?.target;
    const after = {
      refusals: running ? this.#refusalsAfter(running, error) : this.#refusals,
      leftAlone: isOfTheTarget(error),
    };
    if (after.leftAlone && this.#soonest(after.refusals)) return true;
    return group.members.some(
      (member, index) => !asked.has(member) && isInUse(group, index) && this.#wouldTry(member, after),
    );
  }

  /** Something in this part of the tree would be tried. */
  #wouldTry(route: Route, after: Aftermath): boolean {
    if (route.kind === 'target') {
      const skip = this.#reasonToSkip(route, after.refusals);
      return skip === undefined || (after.leftAlone && skip === 'circuit_open');
    }
    if (route.kind === 'conditional') return this.#wouldTry(this.#chosenOf(route).member, after);
    return route.members.some((member, index) => isInUse(route, index) && this.#wouldTry(member, after));
  }

  #reasonToSkip(target: Target, refusals: readonly ModelRefusal[]): SkippedTarget['reason'] | undefined {
    const against = refusals.length > 0 ? reasonAgainst(target, refusals, this.#ctx.exchange.request.body) : undefined;
    // Where there is no choice a breaker would only turn a failure into another one.
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

  async #try(target: Target, reason: ChoiceReason, fallsThrough: GivesWay): Promise<Outcome> {
    const { attempts } = this.#tools;
    const trial = this.#healthOf(target).begin();
    const why = trial.probe && reason !== 'last_resort' ? 'probe' : reason;
    try {
      await attempts.run(this.#ctx, target, { reason: why, fallsThrough });
    } catch (thrown) {
      this.#lose(target, trial, thrown);
      return { failure: thrown, fellThrough: false };
    }
    this.#win(trial);
    return 'answered';
  }

  #lose(target: Target, trial: HealthTrial, thrown: unknown): void {
    const error = toGatewayError(thrown);
    if (this.#countsAgainstTarget(error)) trial.failed(error);
    else trial.abandoned();
    this.#refusals = this.#refusalsAfter(target, error);
    this.#reported = moreUseful(this.#reported, thrown);
  }

  /** Content is there, so the target is well; what breaks afterwards still counts against it. */
  #win(trial: HealthTrial): void {
    const { exchange } = this.#ctx;
    // From the cache, from another request's answer, from a plugin: nobody was asked.
    if (exchange.attempts.at(-1)?.tries.length === 0 || this.#isElsewhere()) return trial.abandoned();
    trial.succeeded();
    if (!exchange.reply || Buffer.isBuffer(exchange.reply.body)) return;
    exchange.onEnd(({ error }) => {
      if (error && countsAgainstTarget(error) && error.code !== 'timeout_total') trial.failed(error);
    });
  }

  /** A silent target must not hide behind the operator's short deadline: the time was all its own. */
  #countsAgainstTarget(error: GatewayError): boolean {
    const { attempts, cancellation, request } = this.#ctx.exchange;
    if (cancellation.reason || this.#isElsewhere()) return false;
    if (error.code !== 'timeout_request') return countsAgainstTarget(error);
    return (
      error instanceof UpstreamError &&
      !error.ofGateway &&
      attempts.length === 1 &&
      request.header('request-timeout') === undefined
    );
  }

  /** A caller that chooses the place itself (a host, a region) says nothing of the target for all others. */
  #isElsewhere(): boolean {
    const { attempts, request } = this.#ctx.exchange;
    return attempts.at(-1)?.resolved?.adHoc === true || request.header('custom-host') !== undefined;
  }
}

const nobody: GivesWay = () => false;

const NONE: readonly ModelRefusal[] = [];

const isInUse = ({ mode, weights }: Group, index: number): boolean => mode !== 'loadbalance' || weights[index] !== 0;
