import { Readable } from 'node:stream';
import { UNCODED } from '../kernel/body/content-decoder.ts';
import { FormBody } from '../kernel/forms/form-body.ts';
import type { Clock } from '../../plugin/index.ts';
import { Dispatch } from './dispatch.ts';
import { DeadlineTimer, nearestLimit, type DueLimit, type Phase, type Progress } from './limits.ts';
import type { OriginPool } from './pool.ts';
import type { OutboundRequest, TryTimings } from './types.ts';

/** The most bytes of a form that wait here for the connection. */
const UPLOAD_BUFFER_BYTES = 64 * 1024;

const streamOf = (form: FormBody): Readable =>
  Readable.from(form, { objectMode: false, highWaterMark: UPLOAD_BUFFER_BYTES });

/** A request as far as its limits know it: its phase, its progress, its pauses, and the timer of the limit that is due first. */
export abstract class TimedDispatch extends Dispatch implements Progress {
  readonly stream: boolean;
  startedAt: number;
  phase: Phase = 'connecting';
  headersAt = 0;
  progressAt = 0;
  pausedFor = 0;
  uploading = false;
  begun = false;
  content = false;
  paused = false;
  protected readonly request: OutboundRequest;
  protected readonly clock: Clock;
  protected readonly timings: TryTimings;
  readonly #timer: DeadlineTimer;
  #pausedAt = 0;

  constructor(pool: OriginPool, request: OutboundRequest, { clock, timings }: { clock: Clock; timings: TryTimings }) {
    const { path, method, headers, body } = request;
    const sent = body instanceof FormBody ? streamOf(body) : (body ?? null);
    super(pool, { path, method, headers: { ...headers, ...UNCODED }, body: sent }, request.caller);
    this.request = request;
    this.clock = clock;
    this.timings = timings;
    this.#timer = new DeadlineTimer(clock, this);
    this.stream = request.stream;
    this.startedAt = timings.startedAt = clock.now();
  }

  /** Called when a limit has passed. */
  protected abstract onOverdue(limit: DueLimit['name']): void;

  /** A stream is read once. */
  protected override get canResend(): boolean {
    return !(this.request.body instanceof FormBody);
  }

  get waitsForClient(): boolean {
    const { body } = this.request;
    return body instanceof FormBody && body.waitsForClient;
  }

  override onWaiting(): void {
    this.enterPhase('waiting');
  }

  /** The upstream's time begins here, without the wait in the gateway's own line. */
  override onTurn(): void {
    this.startedAt = this.timings.waitedUntil = this.clock.now();
    this.enterPhase('connecting');
  }

  protected override onSent(): void {
    this.timings.sentAt = this.clock.now();
    const { body } = this.request;
    if (body instanceof FormBody) this.#watchUpload(body);
    this.enterPhase('sent');
  }

  /** The upstream's time begins when it has the whole form. */
  #watchUpload(body: FormBody): void {
    this.uploading = true;
    this.progressAt = this.clock.now();
    body.progress = {
      onPiece: () => {
        this.progressAt = this.clock.now();
        if (this.phase === 'sent') this.watchLimits();
      },
      onEnd: () => {
        this.uploading = false;
        this.startedAt = this.clock.now();
        if (this.phase === 'sent') this.enterPhase('sent');
      },
    };
  }

  protected enterPhase(phase: Phase): void {
    this.phase = phase;
    this.watchLimits();
  }

  /** Called when the limits have changed: one may now be due before the timer. */
  protected watchLimits(): void {
    this.#timer.waitUntil(nearestLimit(this, this.request).at);
  }

  onTimer(): void {
    const limit = nearestLimit(this, this.request);
    if (limit.at > this.clock.now()) this.#timer.waitUntil(limit.at);
    else this.onOverdue(limit.name);
  }

  protected beginPause(): void {
    if (this.paused) return;
    this.paused = true;
    this.#pausedAt = this.clock.now();
  }

  protected endPause(): void {
    const now = this.clock.now();
    if (this.paused) this.pausedFor += now - this.#pausedAt;
    this.paused = false;
    this.progressAt = now;
    this.watchLimits();
  }

  protected override stop(): void {
    if (this.phase === 'waiting') this.timings.waitedUntil = this.clock.now();
    this.phase = 'over';
    this.#timer.stop();
    this.timings.endedAt ??= this.clock.now();
    this.timings.resent = this.resent;
    this.timings.delivered = this.delivered;
    super.stop();
  }
}
