import { blame } from '../../kernel/outside/blame.ts';
import { isError } from '../../kernel/outside/thrown.ts';
import { GatewayError, UpstreamError, type Reply } from '../../../plugin/index.ts';
import type { Attempt, Exchange, GatewayContext } from '../../kernel/index.ts';
import { checkFraming, checkReply, dropFraming } from './check-reply.ts';
import {
  ChainFault,
  koaContextOf,
  started,
  noteStop,
  type Chain,
  type ChainContext,
  type Guard,
  type Instance,
  type PluginFailureKind,
} from './instance.ts';
import { currentWork, giveUp, runAs, type PluginWork } from '../../kernel/outside/plugin-work.ts';
import { OwnTime } from './own-time.ts';
import type { CancelListener } from '../../../plugin/cancellation.ts';
import { WrappedBody, type WrapperFaults } from './wrapped-body.ts';

/** After the end of its request (`exchange.cancellation`) a plugin has this long to finish. */
const GRACE_MS = 100;

/** Watches an external plugin: the chain rules, its time, its errors and the reply it leaves. */
export function watchedLink(instance: Instance, downstream: Chain): Chain {
  return (scope) => new PluginRun(instance, downstream, scope).run();
}

/** One run of an external plugin: its work, the listener of its request's end, and the owner of what its body wrapper throws. */
class PluginRun implements PluginWork, CancelListener, WrapperFaults {
  givenUp = false;
  readonly time: OwnTime | undefined;
  readonly #instance: Instance;
  readonly #downstream: Chain;
  readonly #scope: ChainContext;
  readonly #ctx: GatewayContext;
  /** The work of the surrounding plugin; `next` runs in it. */
  readonly #outerWork = currentWork();
  readonly #done = Promise.withResolvers<void>();
  #calls = 0;
  #running = 0;
  #over = false;
  #handedOver = false;
  /** The failure of the rest of the chain, which is not the plugin's fault. In an object: it may be `undefined`. */
  #downstreamFailure: { readonly thrown: unknown } | undefined;
  #wrapped: WrappedBody | undefined;
  #ended: GatewayError | undefined;
  #stopTimer: (() => void) | undefined;
  readonly #startedAt: number;
  /** Milliseconds in the rest of the chain. */
  #inside = 0;

  constructor(instance: Instance, downstream: Chain, scope: ChainContext) {
    this.#instance = instance;
    this.#downstream = downstream;
    this.#scope = scope;
    this.#ctx = koaContextOf(scope);
    const { guard } = instance;
    this.time = guard && new OwnTime(guard.clock, (ms) => this.#report('blocked', undefined, ms));
    this.#startedAt = this.#now();
  }

  get plugin(): string {
    return this.#instance.name;
  }

  get exchange(): Exchange {
    return this.#ctx.exchange;
  }

  run(): Promise<void> {
    runAs(this, startPlugin, this).then(
      () => this.#finish(),
      (thrown: unknown) => this.#fail(thrown),
    );
    const { guard } = this.#instance;
    if (guard) this.#limit(guard);
    return this.#done.promise;
  }

  /** Runs the plugin's code, up to its first pause. */
  start(): Promise<void> {
    this.time?.begin();
    try {
      // An external plugin may return anything.
      return Promise.resolve(this.#instance.middleware(this.#ctx, () => this.#next()));
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.time?.stop();
    }
  }

  #next(): Promise<void> {
    const { name, repeats } = this.#instance;
    if (this.#over)
      return refuse(`plugin "${name}" called next() after it had ${this.givenUp ? 'been given up' : 'finished'}`);
    this.#calls += 1;
    if (this.#calls > 1 && !repeats) return refuse(`plugin "${name}" called next() twice without declaring repeats`);
    this.onHandOver();
    this.#running += 1;
    const from = this.#now();
    const done = this.#runDownstream();
    this.time?.leaveOut(this.#now() - from);
    // Handles the failure too: if a plugin does not await `next`, it would be unhandled and end the process.
    done.then(
      () => this.#settled(from),
      (thrown: unknown) => this.#settled(from, { thrown }),
    );
    return done;
  }

  #runDownstream(): Promise<void> {
    return runAs(this.#outerWork, started<ChainContext>, this.#downstream, this.#scope);
  }

  /** Runs right before the plugin goes on. */
  #settled(from: number, failure?: { readonly thrown: unknown }): void {
    this.#inside += this.#now() - from;
    this.#running -= 1;
    this.#downstreamFailure = failure;
    if (!failure) this.#guardBody();
    // The plugin may clean up before it is given up.
    if (this.#ended && this.#running === 0) this.#giveUpSoon(this.#ended);
    const { time } = this;
    if (!time) return;
    time.begin();
    // Behind the plugin's own continuation, which waits already: what runs in between is the plugin's code.
    void ready.then(() => time.stop());
  }

  // Time

  #limit({ clock, pluginMs }: Guard): void {
    // Most plugins call `next` at once and need no timer.
    if (!this.#handedOver)
      this.#stopTimer = clock.after(pluginMs, () => {
        const message = `A plugin did not pass the request on within ${pluginMs / 1000} s (limits.plugin_time).`;
        this.#giveUp(new GatewayError('timeout_request', message, { plugin: this.#instance.name }));
      });
    this.#holder.cancellation.listen(this);
  }

  onCancelled(reason: GatewayError): void {
    this.#ended = reason;
    if (this.#running === 0) this.#giveUpSoon(reason);
  }

  onHandOver(): void {
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
    giveUp(this);
    if (error.plugin === this.#instance.name) this.#report('timeout', error);
    this.#close();
    this.#failWith(error);
  }

  // Ends

  #finish(): void {
    this.#measured();
    if (this.#over) return;
    const { name } = this.#instance;
    this.#close();
    if (this.#running > 0) return this.#reject(new ChainFault(`plugin "${name}" did not await next()`));
    const wrong = this.#handReplyOn();
    if (wrong) return this.#reject(wrong);
    if (this.#instance.guard && !this.#handedOver && !this.#reply)
      noteStop(this.#holder, { plugin: name, report: (error) => this.#report('error', error) });
    this.#done.resolve();
  }

  #fail(thrown: unknown): void {
    const isOwn = !this.#downstreamFailure || thrown !== this.#downstreamFailure.thrown;
    if (isOwn) this.#instance.guard?.reports?.threw(this.plugin, thrown);
    this.#measured();
    // Errors of a given-up plugin have no effect.
    if (this.#over) return;
    this.#close();
    this.#handReplyOn();
    if (!isOwn) return this.#done.reject(thrown);
    if (isError(thrown) && thrown instanceof GatewayError && thrown.code !== 'internal_error') {
      // A refusal is the plugin's own, and no fault; an upstream's failure may come from an earlier call of `next`.
      return this.#done.reject(thrown instanceof UpstreamError ? thrown : blame(thrown, this.plugin));
    }
    this.#reject(thrown);
  }

  /** Several calls of `next` may have run at once. */
  #measured(): void {
    const { guard } = this.#instance;
    guard?.reports?.took(this.plugin, Math.max(0, guard.clock.now() - this.#startedAt - this.#inside));
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
    this.#runDownstream().then(this.#done.resolve, this.#done.reject);
  }

  #close(): void {
    this.#over = true;
    this.#stopTimer?.();
    this.#holder.cancellation.unlisten(this);
  }

  #now(): number {
    return this.#instance.guard?.clock.now() ?? 0;
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

  /** Returns the reason why the reply cannot be sent, and removes it. Its getters and proxy traps may throw. */
  #handReplyOn(): Error | undefined {
    if (!this.#instance.guard) return undefined;
    const { plugin } = this;
    let fault: Error;
    try {
      const wrong = checkReply(this.#reply) ?? checkFraming(this.#ctx);
      if (wrong === undefined) {
        this.#releaseBody();
        return undefined;
      }
      fault = new ChainFault(`plugin "${plugin}" left a reply that cannot be sent: ${wrong}`);
    } catch (thrown) {
      fault = blame(thrown, plugin);
    }
    this.#dropReply(fault);
    return fault;
  }

  /** Removes the reply. Otherwise the next plugin would fail at it and be blamed. */
  #dropReply(cause: Error): void {
    try {
      this.#holder.reply = undefined;
      dropFraming(this.#ctx);
    } catch {
      // The reply is removed; its body cannot be cancelled.
    }
    const { plugin } = this;
    this.#wrapped?.cancel(new GatewayError('internal_error', 'The reply is not sent.', { cause, plugin }));
  }

  /** Hands the plugin a guarded body, so that errors of its wrapper end in the guard. */
  #guardBody(): void {
    if (!this.#instance.guard) return;
    try {
      const reply = this.#reply;
      if (!reply || Buffer.isBuffer(reply.body)) return;
      this.#wrapped = new WrappedBody(reply.body, this);
      reply.body = this.#wrapped;
    } catch (thrown) {
      // A getter or a trap of the reply, which a plugin made.
      this.#close();
      this.#done.reject(thrown);
    }
  }

  /** Restores a body that the plugin did not wrap, so that the guard adds nothing to its stream. */
  #releaseBody(): void {
    const reply = this.#reply;
    if (!reply || Buffer.isBuffer(reply.body)) return;
    const given = this.#wrapped?.given;
    if (given && reply.body === this.#wrapped) reply.body = given;
    else reply.body = (this.#wrapped ?? new WrappedBody(undefined, this)).around(reply.body);
  }

  // The faults of a wrapper

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

const startPlugin = (run: PluginRun): Promise<void> => run.start();

const ready = Promise.resolve();

/** A rejection that does not end the process if no code awaits it. */
function refuse(fault: string): Promise<void> {
  const refused = Promise.reject<void>(new ChainFault(fault));
  refused.catch(() => {});
  return refused;
}
