import { blame } from '../../kernel/outside/blame.ts';
import { isError } from '../../kernel/outside/thrown.ts';
import { GatewayError, UpstreamError, type Reply, type Source } from '../../../plugin/index.ts';
import type { Attempt, Exchange, GatewayContext } from '../../kernel/index.ts';
import type { CancelListener } from '../../../plugin/cancellation.ts';
import { currentWork, giveUp, runAs, type PluginWork } from '../../kernel/outside/plugin-work.ts';
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
import { OwnTime } from './own-time.ts';
import { WrappedBody, type WrapperFaults } from './wrapped-body.ts';

/** After the end of its request (`exchange.cancellation`) a plugin has this long to finish. */
const GRACE_MS = 100;

/** In an object: it may be `undefined`. */
interface Failure {
  readonly thrown: unknown;
}

/** Watches an external plugin: the chain rules, its time, its errors and the reply it leaves. */
export const watchedLink =
  (instance: Instance, downstream: Chain): Chain =>
  (scope) =>
    new PluginRun(instance, downstream, scope).run();

/** One run of an external plugin: its work, and the listener of its request's end. */
class PluginRun extends OwnTime implements PluginWork, CancelListener, WrapperFaults {
  givenUp = false;
  readonly plugin: string;
  readonly exchange: Exchange;
  readonly #instance: Instance;
  readonly downstream: Chain;
  readonly scope: ChainContext;
  readonly #ctx: GatewayContext;
  readonly #holder: Attempt | Exchange;
  /** The work of the surrounding plugin; `next` runs in it. */
  readonly #outerWork = currentWork();
  readonly #done = Promise.withResolvers<void>();
  #calls = 0;
  #running = 0;
  #over = false;
  #handedOver = false;
  /** The failure of the rest of the chain, which is not the plugin's fault. */
  #downstreamFailure: Failure | undefined;
  #wrapped: WrappedBody | undefined;
  #ended: GatewayError | undefined;
  #stopTimer: (() => void) | undefined;
  /** When it started, later by the time in the rest of the chain. */
  #ownFrom = 0;

  constructor(instance: Instance, downstream: Chain, scope: ChainContext) {
    super(instance.guard?.clock);
    this.#instance = instance;
    this.plugin = instance.name;
    this.downstream = downstream;
    this.scope = scope;
    this.exchange = scope.exchange;
    this.#holder = scope.attempt ?? scope.exchange;
    this.#ctx = koaContextOf(scope);
  }

  run(): Promise<void> {
    runAs(this, startPlugin, this).then(
      () => this.#end(),
      (thrown: unknown) => this.#end({ thrown }),
    );
    const { guard } = this.#instance;
    if (guard) this.#limit(guard);
    return this.#done.promise;
  }

  /** Runs the plugin's code, up to its first pause. */
  start(): Promise<void> {
    this.#ownFrom = this.begin();
    try {
      // An external plugin may return anything.
      return Promise.resolve(this.#instance.middleware(this.#ctx, () => this.#next()));
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.stop();
    }
  }

  #next(): Promise<void> {
    if (this.#over)
      return refuse(
        `plugin "${this.plugin}" called next() after it had ${this.givenUp ? 'been given up' : 'finished'}`,
      );
    this.#calls += 1;
    if (this.#calls > 1 && !this.#instance.repeats)
      return refuse(`plugin "${this.plugin}" called next() twice without declaring repeats`);
    this.onHandOver();
    this.#running += 1;
    const from = this.now();
    const done = this.#runDownstream();
    this.leaveOutSince(from);
    // Handles the failure too: if a plugin does not await `next`, it would be unhandled and end the process.
    done.then(
      () => this.#settled(from),
      (thrown: unknown) => this.#settled(from, { thrown }),
    );
    return done;
  }

  #runDownstream(): Promise<void> {
    return runAs(this.#outerWork, startRest, this);
  }

  /** Runs right before the plugin goes on. */
  #settled(from: number, failure?: Failure): void {
    this.#running -= 1;
    this.#downstreamFailure = failure;
    if (!failure && !this.#over) this.#guardBody();
    // The plugin may clean up before it is given up.
    if (this.#ended && this.#running === 0) this.#giveUpSoon(this.#ended);
    this.#ownFrom += this.begin() - from;
    // Behind the plugin's own continuation, which waits already: what runs in between is the plugin's code.
    void ready.then(() => this.stop());
  }

  // Time

  #limit({ clock, pluginMs }: Guard): void {
    // Most plugins call `next` at once and need no timer.
    if (!this.#handedOver)
      this.#stopTimer = clock.after(pluginMs, () => {
        const message = `A plugin did not pass the request on within ${pluginMs / 1000} s (limits.plugin_time).`;
        this.#giveUp(new GatewayError('timeout_request', message, { plugin: this.plugin }));
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
    return new GatewayError(reason.code, reason.message, { cause: reason, plugin: this.plugin });
  }

  #giveUp(error: GatewayError): void {
    if (this.#over) return;
    this.#ended = error;
    giveUp(this);
    if (error.plugin === this.plugin) this.report('timeout', error);
    this.#close();
    this.#failWith(error);
  }

  // Ends

  /** Settles the run in any case: its request waits for it. */
  #end(failure?: Failure): void {
    const { plugin } = this;
    const { guard } = this.#instance;
    try {
      const isOwn = !this.#downstreamFailure || failure?.thrown !== this.#downstreamFailure.thrown;
      if (failure && isOwn) guard?.reports?.threw(plugin, failure.thrown);
      // Several calls of `next` may have run at once.
      guard?.reports?.took(plugin, Math.max(0, this.now() - this.#ownFrom));
      // Errors of a given-up plugin have no effect.
      if (this.#over) return;
      this.#close();
      if (failure) this.#fail(failure.thrown, isOwn);
      else this.#finish();
    } catch (error) {
      this.#done.reject(error);
    }
  }

  #finish(): void {
    const { plugin } = this;
    if (this.#running > 0) return this.#reject(new ChainFault(`plugin "${plugin}" did not await next()`));
    const wrong = this.#handReplyOn();
    if (wrong) return this.#reject(wrong);
    if (this.#instance.guard && !this.#handedOver && !this.#holder.reply)
      noteStop(this.#holder, { plugin, report: (error) => this.report('error', error) });
    this.#done.resolve();
  }

  #fail(thrown: unknown, isOwn: boolean): void {
    this.#handReplyOn();
    if (!isOwn) return this.#done.reject(thrown);
    if (isError(thrown) && thrown instanceof GatewayError && thrown.code !== 'internal_error') {
      // A refusal is the plugin's own, and no fault; an upstream's failure may come from an earlier call of `next`.
      return this.#done.reject(thrown instanceof UpstreamError ? thrown : blame(thrown, this.plugin));
    }
    this.#reject(thrown);
  }

  #reject(thrown: unknown): void {
    const error = blame(thrown, this.plugin);
    this.report('error', error);
    this.#failWith(error);
  }

  /** A plugin with `on_error: skip` leaves the request to the rest of the chain. */
  #failWith(fault: Error): void {
    if (!this.#instance.skips || this.#running > 0 || this.exchange.cancellation.reason)
      return this.#done.reject(fault);
    if (this.#downstreamFailure) return this.#done.reject(this.#downstreamFailure.thrown);
    if (this.#calls > 0) return this.#holder.reply ? this.#done.resolve() : this.#done.reject(fault);
    this.#runDownstream().then(this.#done.resolve, this.#done.reject);
  }

  #close(): void {
    this.#over = true;
    this.#stopTimer?.();
    if (this.#instance.guard) this.#holder.cancellation.unlisten(this);
  }

  report(kind: PluginFailureKind, error: unknown, ms?: number): void {
    const { plugin } = this;
    const { guard } = this.#instance;
    guard?.onFault({ kind, plugin, requestId: this.exchange.id, error, ...(ms !== undefined && { ms }) });
  }

  // The reply

  /** Returns the reason why the reply cannot be sent, and removes it. Its getters and proxy traps may throw. */
  #handReplyOn(): Error | undefined {
    if (!this.#instance.guard) return undefined;
    let fault: Error;
    try {
      const { reply } = this.#holder;
      const wrong = checkReply(reply) ?? checkFraming(this.#ctx);
      if (wrong === undefined) {
        if (reply && !Buffer.isBuffer(reply.body)) this.#releaseBody(reply, reply.body);
        return undefined;
      }
      fault = new ChainFault(`plugin "${this.plugin}" left a reply that cannot be sent: ${wrong}`);
    } catch (thrown) {
      fault = blame(thrown, this.plugin);
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
      const { reply } = this.#holder;
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
  #releaseBody(reply: Reply, body: Source): void {
    const given = this.#wrapped?.given;
    if (given && body === this.#wrapped) reply.body = given;
    else reply.body = (this.#wrapped ?? new WrappedBody(undefined, this)).around(body);
  }
}

const startPlugin = (run: PluginRun): Promise<void> => run.start();
const startRest = ({ downstream, scope }: PluginRun): Promise<void> => started(downstream, scope);

const ready = Promise.resolve();

/** A rejection that does not end the process if no code awaits it. */
function refuse(fault: string): Promise<void> {
  const refused = Promise.reject<void>(new ChainFault(fault));
  refused.catch(() => {});
  return refused;
}
