import { koaContextOf, noReply, Scope, started, type Chain, type ChainContext } from '../chain/instance.ts';
import { currentWork } from '../../kernel/outside/plugin-work.ts';
import type { DefaultedParam, Loss } from '../../../formats/conversation.ts';
import type { Signals } from '../../../formats/events.ts';
import {
  Cancellation,
  GatewayError,
  type CacheStatus,
  type Choice,
  type Clock,
  type Reply,
} from '../../../plugin/index.ts';
import {
  toGatewayError,
  type RequestBody,
  type Attempt,
  type AttemptRunner,
  type CancelListener,
  type Exchange,
  type GatewayContext,
  type Outbound,
  type ResolvedTarget,
  type Target,
  type Timeouts,
  type TryRecord,
} from '../../kernel/index.ts';
import { shortList } from '../../kernel/short-list.ts';
import { GuardedCancellation } from './plugin-listener.ts';
import { ReplyHolder } from './reply-holder.ts';
import { ResponseCapture, answerByStatus } from './koa-reply.ts';

/** One run of the attempt chain, with the state that belongs to this run alone. */
class TargetAttempt extends ReplyHolder implements Attempt, CancelListener {
  readonly number: number;
  readonly target: Target;
  readonly choice: Choice;
  readonly startedAt: number;
  readonly cancellation: Cancellation;
  readonly tries: TryRecord[] = shortList();
  readonly losses: Loss[] = [];
  defaulted: readonly DefaultedParam[] | undefined;
  body: RequestBody;
  outbound: Outbound | undefined;
  storedFiles: Attempt['storedFiles'];
  cache: CacheStatus | undefined;
  reserve: Attempt['reserve'];
  semantic: Attempt['semantic'];
  prefixes: Attempt['prefixes'];
  wait: Attempt['wait'];
  signals: Signals | undefined;
  error: GatewayError | undefined;
  resolved: ResolvedTarget | undefined;
  readonly #defaults: Timeouts;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, body: RequestBody, setup: TargetAttemptSetup) {
    super();
    this.owner = exchange;
    const { target, choice } = setup;
    this.#exchange = exchange;
    const { cancellation } = exchange;
    // Errors of its listeners are reported as those of the exchange's listeners are.
    this.cancellation = cancellation instanceof GuardedCancellation ? cancellation.another() : new Cancellation();
    this.choice = choice;
    this.number = exchange.attempts.length;
    this.body = body;
    this.target = target;
    this.startedAt = setup.now;
    this.#defaults = setup.timeouts;
  }

  get deadline(): number {
    const total = this.target.timeouts.total ?? this.resolved?.timeouts.total ?? this.#defaults.total;
    return Math.min(this.startedAt + total, this.#exchange.deadline);
  }

  /** The most specific settings win: the target's, then the catalog entry's, then the server's. */
  get timeouts(): Timeouts {
    return { ...this.#defaults, ...this.resolved?.timeouts, ...this.target.timeouts };
  }

  onCancelled(reason: GatewayError): void {
    this.cancellation.cancel(reason);
  }

  /** Drops the sent body once a reply has begun: prompts of megabytes must not live as long as a slow stream. */
  release(): void {
    this.outbound = undefined;
    if (this.body.original.length > KEPT_BODY_BYTES) this.body = this.body.outline();
  }
}

interface TargetAttemptSetup {
  readonly target: Target;
  readonly choice: Choice;
  readonly now: number;
  readonly timeouts: Timeouts;
}

/** When the exchange ends, the upstream of each attempt is released, however the attempt ended. */
const OVER = new GatewayError('client_closed', 'The request is over.');

/** Below this size, keeping a body costs less than making its outline. */
const KEPT_BODY_BYTES = 8 * 1024;

interface AttemptSetup {
  /** The chain of targets that name no other. */
  readonly chain: Chain;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
}

export const createAttemptRunner = (setup: AttemptSetup): AttemptRunner => ({
  run(ctx, target, choice) {
    try {
      return runAttempt(setup, ctx, { target, choice });
    } catch (error) {
      return Promise.reject(error);
    }
  },
});

function runAttempt(
  { chain, clock, timeouts }: AttemptSetup,
  ctx: ChainContext,
  chosen: { readonly target: Target; readonly choice: Choice },
): Promise<void> {
  const { exchange } = ctx;
  passOn(exchange);
  const { cancellation } = exchange;
  const { body } = exchange.request;
  if (!body) throw new GatewayError('internal_error', 'An attempt was started after a reply was set.');
  const attempt = new TargetAttempt(exchange, body, { ...chosen, now: clock.now(), timeouts });
  exchange.attempts.push(attempt);
  cancellation.listen(attempt);
  exchange.onEnd(() => attempt.onCancelled(OVER));
  const scope = new RunningAttempt(ctx, attempt);
  const lost = (thrown: unknown): never => {
    loseAttempt(attempt, thrown);
    throw thrown;
  };
  const answered = (): void => {
    const reply = attempt.reply ?? scope.answerByStatus();
    if (!reply) return lost(noReply(attempt));
    const { captured } = scope;
    if (captured)
      for (const name of captured.getHeaderNames()) reply.headers[name] = [captured.getHeader(name)].flat().join(', ');
    exchange.reply = reply;
    // The exchange owns the reply now: setting another reply on the attempt would cancel this one.
    attempt.seal();
    exchange.request.body = undefined;
    exchange.request.form = undefined;
    attempt.release();
  };
  const { chain: own } = chosen.target;
  return started(own ? own.run : chain, scope).then(answered, lost);
}

/** An external plugin may run attempts in place of `next`. A plugin that has been given up may not. */
function passOn(exchange: Exchange): void {
  const work = currentWork();
  if (work?.exchange !== exchange) return;
  if (work.givenUp)
    throw new GatewayError('internal_error', `plugin "${work.plugin}" started an attempt after it had been given up`);
  work.onHandOver?.();
}

function loseAttempt(attempt: TargetAttempt, thrown: unknown): void {
  const error = toGatewayError(thrown);
  attempt.error = error;
  attempt.reply = undefined;
  attempt.seal();
  attempt.release();
  attempt.cancellation.cancel(error);
}

class RunningAttempt extends Scope {
  readonly exchange: Exchange;
  readonly attempt: TargetAttempt;
  readonly #ctx: ChainContext;
  #koa: GatewayContext | undefined;
  /** The headers that external plugins set on the attempt's response; undefined when none ran. */
  captured: ResponseCapture | undefined;

  constructor(ctx: ChainContext, attempt: TargetAttempt) {
    super();
    this.exchange = ctx.exchange;
    this.attempt = attempt;
    this.#ctx = ctx;
  }

  override koa(): GatewayContext {
    this.captured ??= new ResponseCapture();
    return (this.#koa ??= attemptContext(koaContextOf(this.#ctx), this.attempt, this.captured));
  }

  /** Replies with the status that an external plugin has set, if one has. */
  answerByStatus(): Reply | undefined {
    if (this.#koa) answerByStatus(this.#koa.response);
    return this.attempt.reply;
  }
}

/** Koa delegates `ctx.status`, `body` and `set` to `response` and its `res`: an attempt has its own two. */
function attemptContext(ctx: GatewayContext, attempt: Attempt, captured: ResponseCapture): GatewayContext {
  const response = shallowCopy(ctx.response);
  const view = Object.assign(shallowCopy(ctx), { attempt, response });
  Object.assign(response, { res: captured, ctx: view });
  return view;
}

/** V8 gives each prototype its own hidden class: inheriting costs 10 % of a request (measured). */
const shallowCopy = <T extends object>(object: T): T =>
  Object.assign(Object.create(Object.getPrototypeOf(object)), object);
