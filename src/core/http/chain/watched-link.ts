import { blame } from '../../kernel/outside/blame.ts';
import { isError } from '../../kernel/outside/thrown.ts';
import { GatewayError, UpstreamError, type Reply, type Source } from '../../../plugin/index.ts';
import type { Attempt, Exchange, GatewayContext } from '../../kernel/index.ts';
import { checkFraming, checkReply, dropFraming } from './check-reply.ts';
import {
  ChainFault,
  koaContextOf,
  started,
  noteStop,
  type Chain,
  type Guard,
  type Instance,
  type PluginFailureKind,
} from './instance.ts';
import { currentWork, giveUp, runAs, type PluginWork } from '../../kernel/outside/plugin-work.ts';
import { OwnTime } from './own-time.ts';
import { WrappedBody, type WrapperFaults } from './wrapped-body.ts';

/** After the end of its request (`exchange.cancellation`) a plugin has this long to finish. */
const GRACE_MS = 100;

/** Watches an external plugin: the chain rules, its time, its errors and the reply it leaves. */
export function watchedLink(instance: Instance, downstream: Chain): Chain {
  return (ctx) => new PluginRun(instance, downstream, koaContextOf(ctx)).run();
}

class PluginRun implements WrapperFaults {
  readonly #instance: Instance;
  readonly #downstream: Chain;
  readonly #ctx: GatewayContext;
  /** The work of the surrounding plugin; `next` runs in it. */
  readonly #outerWork = currentWork();
  readonly #work: PluginWork;
  readonly #done = Promise.withResolvers<void>();
  #calls = 0;
  #running = 0;
  #over = false;
  #handedOver = false;
  /** The failure of the rest of the chain, which is not the plugin's fault. In an object: it may be `undefined`. */
  #downstreamFailure: { readonly thrown: unknown } | undefined;
  #wrapped: WrappedBody | undefined;
  #time: OwnTime | undefined;
  #ended: GatewayError | undefined;
  #stopTimer: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(instance: Instance, downstream: Chain, ctx: GatewayContext) {
    this.#instance = instance;
    this.#downstream = downstream;
    this.#ctx = ctx;
    const onHandOver = (): void => this.#handOver();
    this.#work = { plugin: instance.name, exchange: ctx.exchange, onHandOver, givenUp: false };
  }

  run(): Promise<void> {
    const { middleware, guard } = this.#instance;
    runAs(this.#work, () => started((ctx) => middleware(ctx, this.#next), this.#ctx))
      .then(
        () => this.#finish(),
        (thrown: unknown) => this.#fail(thrown),
      )
      .catch((thrown: unknown) => this.#reject(thrown));
    if (guard) this.#limit(guard);
    return this.#done.promise;
  }

  readonly #next = (): Promise<void> => {
    const { name, repeats } = this.#instance;
    if (this.#over)
      return refuse(`plugin "${name}" called next() after it had ${this.#work.givenUp ? 'been given up' : 'finished'}`);
    this.#calls += 1;
    if (this.#calls > 1 && !repeats) return refuse(`plugin "${name}" called next() twice without declaring repeats`);
    this.#handOver();
    this.#running += 1;
    const done = runAs(this.#outerWork, () => started(this.#downstream, this.#ctx)).then(() => this.#guardBody());
    // Handles the failure too: if a plugin does not await `next`, it would be unhandled and end the process.
    done.then(
      () => this.#settled(),
      (thrown: unknown) => this.#settled({ thrown }),
    );
    return done;
  };

  #settled(failure?: { readonly thrown: unknown }): void {
    this.#running -= 1;
    this.#downstreamFailure = failure;
    // The plugin may clean up before it is given up.
    if (this.#ended && this.#running === 0) this.#giveUpSoon(this.#ended);
  }

  // Time

  #limit({ clock, pluginMs }: Guard): void {
    // Most plugins call `next` at once and need no timer.
    if (!this.#handedOver)
      this.#stopTimer = clock.after(pluginMs, () => {
        const message = `A plugin did not pass the request on within ${pluginMs / 1000} s (limits.plugin_time).`;
        this.#giveUp(new GatewayError('timeout_request', message, { plugin: this.#instance.name }));
      });
    const { cancellation } = this.#ctx.attempt ?? this.#ctx.exchange;
    this.#stopListening = cancellation.onCancel((reason) => {
      this.#ended = reason;
      if (this.#running === 0) this.#giveUpSoon(reason);
    });
  }

  #handOver(): void {
    this.#handedOver = true;
    if (this.#ended) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #giveUpSoon(reason: GatewayError): void {
    if (this.#over) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#instance.guard?.clock.after(GRACE_MS, () => this.#giveUp(this.#named(reason)));
  }

  /** Adds the plugin's name to a deadline error: the request was in it. A client disconnect is not its fault. */
  #named(reason: GatewayError): GatewayError {
    if (reason.code !== 'timeout_request' || reason.plugin !== undefined) return reason;
    return new GatewayError(reason.code, reason.message, { cause: reason, plugin: this.#instance.name });
  }

  #giveUp(error: GatewayError): void {
    if (this.#over) return;
    this.#ended = error;
    giveUp(this.#work);
    if (error.plugin === this.#instance.name) this.#report('timeout', error);
    this.#close();
    this.#failWith(error);
  }

  // Ends

  #finish(): void {
    if (this.#over) return;
    const { name } = this.#instance;
    this.#close();
    if (this.#running > 0) return this.#reject(new ChainFault(`plugin "${name}" did not await next()`));
    const wrong = this.#replyFault();
    if (wrong) {
      this.#dropReply(wrong);
      return this.#reject(wrong);
    }
    if (this.#instance.guard && !this.#handedOver && !this.#reply)
      noteStop(this.#holder, { plugin: name, report: (error) => this.#report('error', error) });
    this.#releaseBody();
    this.#done.resolve();
  }

  #fail(thrown: unknown): void {
    // Errors of a given-up plugin have no effect.
    if (this.#over) return;
    this.#close();
    const wrong = this.#replyFault();
    if (wrong) this.#dropReply(wrong);
    else this.#releaseBody();
    if (this.#downstreamFailure && thrown === this.#downstreamFailure.thrown) return this.#done.reject(thrown);
    if (isError(thrown) && thrown instanceof GatewayError && thrown.code !== 'internal_error') {
      // A refusal is the plugin's own, and no fault; an upstream's failure may come from an earlier call of `next`.
      return this.#done.reject(thrown instanceof UpstreamError ? thrown : blame(thrown, this.#instance.name));
    }
    this.#reject(thrown);
  }

  #reject(thrown: unknown): void {
    const error = blame(thrown, this.#instance.name);
    this.#report('error', error);
    this.#failWith(error);
  }

  /** A plugin with `on_error: skip` leaves the request to the rest of the chain. */
  #failWith(fault: Error): void {
    const { skips } = this.#instance;
    if (!skips || this.#running > 0 || this.#ctx.exchange.cancellation.reason) return this.#done.reject(fault);
    if (this.#downstreamFailure) return this.#done.reject(this.#downstreamFailure.thrown);
    if (this.#calls > 0) return this.#reply ? this.#done.resolve() : this.#done.reject(fault);
    runAs(this.#outerWork, () => started(this.#downstream, this.#ctx)).then(this.#done.resolve, this.#done.reject);
  }

  #close(): void {
    this.#over = true;
    this.#stopTimer?.();
    this.#stopListening?.();
  }

  #report(kind: PluginFailureKind, error: unknown, ms?: number): void {
    const { name: plugin, guard } = this.#instance;
    guard?.onFault({ kind, plugin, requestId: this.#ctx.exchange.id, error, ...(ms !== undefined && { ms }) });
  }

  // The reply

  get #holder(): Attempt | Exchange {
    return this.#ctx.attempt ?? this.#ctx.exchange;
  }

  get #reply(): Reply | undefined {
    return this.#holder.reply;
  }

  /** The reason why the reply cannot be sent. Its getters and proxy traps may throw. */
  #replyFault(): Error | undefined {
    if (!this.#instance.guard) return undefined;
    const { name } = this.#instance;
    try {
      const wrong = checkReply(this.#reply) ?? checkFraming(this.#ctx);
      return wrong === undefined
        ? undefined
        : new ChainFault(`plugin "${name}" left a reply that cannot be sent: ${wrong}`);
    } catch (thrown) {
      return blame(thrown, name);
    }
  }

  /** Removes the reply. Otherwise the next plugin would fail at it and be blamed. */
  #dropReply(cause: Error): void {
    try {
      this.#holder.reply = undefined;
      dropFraming(this.#ctx);
    } catch {
      // The reply is removed; its body cannot be cancelled.
    }
    const { name: plugin } = this.#instance;
    this.#wrapped?.inner.cancel(new GatewayError('internal_error', 'The reply is not sent.', { cause, plugin }));
  }

  /** Hands the plugin a guarded body, so that errors of its wrapper end in the guard. */
  #guardBody(): void {
    if (!this.#instance.guard) return;
    const reply = this.#reply;
    if (!reply || Buffer.isBuffer(reply.body)) return;
    this.#wrapped = this.#wrap(reply.body);
    reply.body = this.#wrapped.inner;
  }

  /** Restores a body that the plugin did not wrap, so that the guard adds nothing to its stream. */
  #releaseBody(): void {
    const reply = this.#instance.guard && this.#reply;
    if (!reply || Buffer.isBuffer(reply.body)) return;
    const given = this.#wrapped?.given;
    if (given && reply.body === this.#wrapped?.inner) reply.body = given;
    else reply.body = (this.#wrapped ?? this.#wrap(undefined)).around(reply.body);
  }

  #wrap(given: Source | undefined): WrappedBody {
    return new WrappedBody(given, this);
  }

  // The faults of a wrapper

  get plugin(): string {
    return this.#instance.name;
  }

  get time(): OwnTime | undefined {
    const { guard } = this.#instance;
    return (this.#time ??= guard && new OwnTime(guard.clock, (ms) => this.#report('blocked', undefined, ms)));
  }

  onFault(thrown: unknown): GatewayError {
    const { plugin } = this;
    const cause = blame(thrown, plugin);
    this.#report('stream', cause);
    return new GatewayError('internal_error', 'A plugin failed while it forwarded this reply.', { cause, plugin });
  }

  onLate(error: GatewayError): void {
    this.#report('timeout', error);
  }
}

/** A rejection that does not end the process if no code awaits it. */
function refuse(fault: string): Promise<void> {
  const refused = Promise.reject<void>(new ChainFault(fault));
  refused.catch(() => {});
  return refused;
}
