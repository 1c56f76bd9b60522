import type { Signals, UpstreamFailure } from '../../formats/events.ts';
import { UpstreamError, type Clock, type ErrorCode, type GatewayError } from '../../plugin/index.ts';
import type { CancelListener, ReplyReaderLike } from '../kernel/index.ts';
import { LoopBatch } from '../kernel/loop-batch.ts';
import { BoundedBody, readText } from './bounded-body.ts';
import { mayCommit, unusable, ReplyBuffer, type HeldReply } from './commit-gate.ts';
import { outOfTime, overdueError, type DueLimit } from './limits.ts';
import type { OriginPool } from './pool.ts';
import { ReplyFlow, type Tap } from './reply-flow.ts';
import type { CommittedReply, OutboundRequest, RefusedReply, TryTimings } from './types.ts';
import { TimedDispatch } from './timed-dispatch.ts';
import { toUpstreamError } from './upstream-error.ts';

/** Limit for error bodies, which are a few hundred bytes of JSON or a page of HTML. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

const CUT_OFF = ' [the body was cut off]';

type TrySettle = Pick<PromiseWithResolvers<CommittedReply | RefusedReply>, 'resolve' | 'reject'>;

/** Replies that become ready in one turn of the event loop: their requests go on together. */
const readyReplies = new LoopBatch<{ settle: TrySettle; reply: CommittedReply }>(({ settle, reply }) =>
  settle.resolve(reply),
);

/**
 * One try at an upstream: sends the request, waits, and decides about the commit. Before commit the reply is held and
 * every failure rejects, so that another attempt is possible; after it, bytes and failures go to the reply's sink.
 */
export class Try extends TimedDispatch implements Tap, HeldReply, CancelListener {
  bytesOut = 0;
  readonly #settle: TrySettle;
  readonly #held: ReplyBuffer;
  #status = 0;
  #headers: Record<string, string> = {};
  #reader: ReplyReaderLike | undefined;
  #flow: ReplyFlow | undefined;
  #refusal: BoundedBody | undefined;

  constructor(
    pool: OriginPool,
    request: OutboundRequest,
    context: { readonly clock: Clock; readonly timings: TryTimings; readonly settle: TrySettle },
  ) {
    super(pool, request, context);
    this.#settle = context.settle;
    this.#held = new ReplyBuffer(request);
  }

  begin(): void {
    const { cancellation } = this.request;
    if (cancellation.reason) return this.onCancelled(cancellation.reason);
    cancellation.listen(this);
    // A token fetch, a retry delay or a plugin may have used up the time.
    if (this.startedAt >= this.request.deadline) return this.#failWith(outOfTime(this.request, this.pool.host));
    this.enterPhase('connecting');
    this.pool.enter(this);
  }

  get signals(): Signals {
    return this.#reader!.signals;
  }

  get bytesIn(): number {
    return this.timings.bytesIn;
  }

  // Dispatch

  protected override onHeaders(status: number, headers: Record<string, string>): void {
    this.headersAt = this.progressAt = this.timings.firstByteAt = this.clock.now();
    this.#status = status;
    this.#headers = headers;
    const reason = unusable(status, headers);
    if (reason !== undefined) return this.#fail('upstream_error', `${this.pool.host} answered with ${reason}.`);
    if (status >= 400) {
      this.#refusal = new BoundedBody(MAX_REFUSAL_BYTES);
      return this.enterPhase('refused');
    }
    try {
      this.#reader = this.request.openReader({ status, headers });
    } catch (error) {
      return this.#failReader(error);
    }
    this.enterPhase('held');
  }

  protected override onBytes(bytes: Buffer): void {
    this.timings.bytesIn += bytes.length;
    if (this.#refusal) {
      this.progressAt = this.clock.now();
      if (!this.#refusal.push(bytes)) this.#settleRefused(` [cut at ${MAX_REFUSAL_BYTES} bytes]`);
      return;
    }
    const reader = this.#reader!;
    let out: Buffer | undefined;
    try {
      out = reader.push(bytes);
    } catch (error) {
      return this.#failReader(error);
    }
    if (this.#observe(reader.signals)) this.watchLimits();
    this.#deliver(out);
    if (this.phase === 'over') return;
    // After commit the sink renders the failure: a reader writes no bytes for the provider's error event.
    if (reader.signals.failure) return this.#failWith(this.#toError(reader.signals.failure));
    const ending = this.stream ? this.request.watch?.(reader.signals) : undefined;
    if (ending) return this.#failWith(ending);
    this.#checkSize();
    if (this.phase !== 'held') return;
    // In this order, so that a reply that commits with these bytes is not counted as held.
    if (!mayCommit(this, this.request) && !this.#isCrowdedOut()) return;
    if (!this.#isRefused()) this.#commit();
  }

  protected override onComplete(): void {
    if (this.#refusal) return this.#settleRefused('');
    const reader = this.#reader!;
    let out: Buffer | undefined;
    try {
      out = reader.end();
    } catch (error) {
      return this.#failReader(error);
    }
    this.#observe(reader.signals);
    this.#deliver(out);
    if (this.phase === 'over') return;
    const { failure, ended } = reader.signals;
    // A failure without a kind, found only at the end of a stream, means that the stream was cut.
    if (failure && this.stream && failure.kind === undefined) return this.#fail('stream_interrupted', failure.message);
    if (failure) return this.#failWith(this.#toError(failure));
    if (this.stream && !ended) {
      return this.#fail('stream_interrupted', `${this.pool.host} closed the stream before it was complete.`);
    }
    if (this.phase !== 'held' || !this.#isRefused()) this.#finish();
  }

  override onFault(error: GatewayError): void {
    // A reply that the provider has declared complete stays complete, however its connection ends.
    if (this.#reader?.signals.ended && this.#flow) return this.#finish();
    this.#failWith(error);
  }

  // Tap

  pauseFlow(): void {
    this.beginPause();
    this.pauseReading();
  }

  resumeFlow(): void {
    if (this.phase === 'over') return;
    // The sink requests more, so the held bytes have been sent.
    this.#held.release();
    this.endPause();
    this.resumeReading();
  }

  cancelFlow(): void {
    this.#close();
  }

  // The gate

  /** @returns true if other limits apply from now on */
  #observe(signals: Signals): boolean {
    this.progressAt = this.clock.now();
    if (this.content || !(signals.content || (signals.begun && !this.begun))) return false;
    this.begun = true;
    this.content = signals.content;
    if (this.content) this.timings.firstContentAt = this.progressAt;
    return true;
  }

  #isRefused(): boolean {
    const error = this.request.judge?.(this.signals);
    if (error) this.#failWith(error);
    return error !== undefined;
  }

  #deliver(out: Buffer | undefined): void {
    if (!out || out.length === 0) return;
    this.bytesOut += out.length;
    if (this.#flow) this.#flow.push(out);
    else this.#held.keep(out);
  }

  /** There is no more memory for held replies, and this one has content and only waits for its end. */
  #isCrowdedOut(): boolean {
    if (this.phase === 'over') return false;
    const hasRoom = this.#held.count(Math.max(this.bytesIn, this.bytesOut));
    return !hasRoom && this.stream && this.content;
  }

  /** Rejects: no part of the reply will be sent. */
  #reject(error: GatewayError): void {
    this.#held.release();
    this.#settle.reject(error);
  }

  /** Limits plain replies, which a translating reader holds in memory until their end. Readers of streams have limits of their own. */
  #checkSize(): void {
    const { maxReplyBytes } = this.request;
    if (this.stream || this.timings.bytesIn - this.bytesOut <= maxReplyBytes) return;
    this.#fail('reply_too_large', `The reply of ${this.pool.host} exceeds ${maxReplyBytes} bytes (limits.reply).`);
  }

  #commit(): void {
    this.phase = 'flowing';
    const flow = (this.#flow = new ReplyFlow(this, this.#held.take()));
    this.pauseFlow();
    this.#resolve(flow);
  }

  #finish(): void {
    const flow = this.#flow;
    this.#close();
    if (flow) flow.end();
    else this.#resolve(Buffer.concat(this.#held.take()));
  }

  #resolve(body: Buffer | ReplyFlow): void {
    const { signals } = this.#reader!;
    readyReplies.add({
      settle: this.#settle,
      reply: { ok: true, status: this.#status, headers: this.#headers, body, signals, timings: this.timings },
    });
  }

  /** @param remark appended to an incomplete body */
  #settleRefused(remark: string): void {
    const text = readText(this.#refusal!.bytes(), this.#headers) + remark;
    this.#close();
    this.#settle.resolve({ ok: false, status: this.#status, headers: this.#headers, text, timings: this.timings });
  }

  // Limits and ends

  protected override onOverdue(name: DueLimit['name']): void {
    if (name === 'refusal') return this.#settleRefused(CUT_OFF);
    if (name !== 'hold') {
      return this.onFault(overdueError({ name, phase: this.phase, host: this.pool.host }, this.request));
    }
    this.#commit();
    this.onTimer();
  }

  #toError(failure: UpstreamFailure): UpstreamError {
    return toUpstreamError(failure, { ...this.request.errors, inStream: this.stream });
  }

  #fail(code: ErrorCode, message: string): void {
    this.#failWith(new UpstreamError(code, message));
  }

  #failReader(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The reply of ${this.pool.host} cannot be read: ${reason}`;
    this.#failWith(new UpstreamError('upstream_error', message, { cause, inStream: this.stream }));
  }

  #failWith(error: GatewayError): void {
    if (this.phase === 'over') return;
    // The status of a refusal is more important than the end of its body.
    if (this.#refusal) return this.#settleRefused(CUT_OFF);
    const flow = this.#flow;
    this.#close();
    // A reply that fails after commit ends here. A continuation by another model would have to start here.
    if (flow) flow.fail(error);
    else this.#reject(error);
  }

  /** Rejects the promise if it is still open. The sink is not called: the consumer itself has cancelled. */
  onCancelled(reason: GatewayError): void {
    if (this.phase === 'over') return;
    this.#close();
    this.#flow?.drop();
    this.#reject(reason);
  }

  #close(): void {
    this.request.cancellation.unlisten(this);
    this.stop();
  }
}
