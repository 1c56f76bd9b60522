import { isOfCallersToken, type BreakerSettings, type HealthTrial, type TargetHealth } from '../kernel/index.ts';
import type { Clock, GatewayError } from '../../plugin/index.ts';
import type { HealthReport, HealthTransition, OpenedTarget } from './ports.ts';
import { SlidingWindow } from './sliding-window.ts';

/** The longest wait that an upstream can request; an operator's `cooldown` may be longer. */
const MAX_RETRY_AFTER_MS = 300_000;

/** failure: counts against the target. alive: the target has answered. unclear: a failure that its settings do not count, without an answer. */
type Verdict = 'failure' | 'alive' | 'unclear';

export type BreakerOpened = Omit<OpenedTarget, 'target'>;

interface BreakerOptions {
  /** The subject: a target for all callers, or a target with the token of one caller. */
  readonly of?: 'target' | 'token';
  /** Called when the target should be left alone by others too. */
  readonly tell?: ((opened: BreakerOpened) => void) | undefined;
}

/**
 * The circuit breaker of one target; without a configured one it tracks health by the same rules and admits every
 * request. It counts requests of its current phase only, which begins when it opens and when it closes: an outdated
 * result neither closes nor opens it. Only a Retry-After is honoured from every request, because it concerns the
 * future.
 */
export class Breaker implements TargetHealth {
  readonly id: number;
  readonly settings: BreakerSettings;
  readonly #of: 'target' | 'token';
  readonly #tell: BreakerOptions['tell'];
  readonly #clock: Clock;
  readonly #onTransition: (transition: HealthTransition) => void;
  readonly #window: SlidingWindow;
  #state: TargetHealth['state'] = 'closed';
  #retryAt = 0;
  #phase = 0;
  #probe: Trial | undefined;
  #lastError: { readonly code: string; readonly at: number } | undefined;

  constructor(
    settings: BreakerSettings,
    clock: Clock,
    onTransition: (transition: HealthTransition) => void,
    { of = 'target', tell }: BreakerOptions = {},
  ) {
    this.id = made += 1;
    this.#of = of;
    this.#tell = tell;
    this.settings = settings;
    this.#clock = clock;
    this.#onTransition = onTransition;
    this.#window = new SlidingWindow(settings.windowMs);
  }

  get state(): TargetHealth['state'] {
    return this.#state;
  }

  get retryAt(): number {
    return this.#retryAt;
  }

  get admits(): boolean {
    return this.#state === 'closed' || !this.settings.enforced || this.#mayProbe();
  }

  begin(): HealthTrial {
    const probe = this.settings.enforced && this.#state !== 'closed' && this.#mayProbe();
    const trial = new Trial(this, probe, this.#phase);
    if (!probe) return trial;
    this.#probe = trial;
    if (this.#state === 'open') this.#become('half_open', undefined);
    return trial;
  }

  /** Returns the time at which the success was counted; undefined if it was not counted. */
  succeeded(trial: Trial): number | undefined {
    const current = trial.phase === this.#phase;
    this.#free(trial);
    if (!current) return undefined;
    const now = this.#clock.now();
    if (this.#state !== 'closed' && this.#isBack(now)) this.#close();
    trial.phase = this.#phase;
    this.#window.add(now, false);
    return now;
  }

  /** @param since the time at which the request was counted as a success */
  failed(trial: Trial, error: GatewayError, since: number | undefined): void {
    // A refusal of a caller's token is no evidence about the target. A token's breaker ignores everything else.
    if (isOfCallersToken(error) !== (this.#of === 'token')) return this.abandoned(trial);
    const { onStatusCodes, onTokenStatusCodes = onStatusCodes } = this.settings;
    const verdict = verdictOf(error, this.#of === 'token' ? onTokenStatusCodes : onStatusCodes);
    if (verdict === 'alive') {
      if (since === undefined) this.succeeded(trial);
      return;
    }
    const wasProbe = this.#free(trial);
    const now = this.#clock.now();
    const failed = verdict === 'failure';
    if (failed) this.#heed(error, now);
    if (trial.phase !== this.#phase) return;
    if (since === undefined) this.#window.add(now, failed);
    else if (failed) this.#window.turn(since, now);
    if (!failed) return;
    this.#lastError = { code: error.code, at: now };
    if (this.#state === 'closed' ? this.#reachesThreshold(now) : wasProbe || this.#isDue(now)) this.#open(error, now);
  }

  abandoned(trial: Trial): void {
    this.#free(trial);
  }

  /**
   * Another gateway has opened its breaker of the same target. Each probes by itself: a wait that is open already grows only where the
   * upstream has asked for it, or a gateway that cannot reach the target would keep all others from it.
   */
  openedElsewhere({ waitMs, errorCode, longer }: BreakerOpened): void {
    if (!this.settings.enforced || this.#state === 'half_open' || longer !== (this.#state === 'open')) return;
    const now = this.#clock.now();
    const most = Math.max(this.settings.cooldownMs, MAX_RETRY_AFTER_MS);
    this.#retryAt = Math.max(longer ? this.#retryAt : 0, now + Math.min(waitMs, most));
    if (longer) return;
    this.#phase += 1;
    this.#lastError = { code: errorCode, at: now };
    this.#become('open', errorCode);
  }

  report(): HealthReport {
    const now = this.#clock.now();
    return {
      state: this.#state,
      probing: this.#probe !== undefined,
      failures: this.#window.failures(now),
      requests: this.#window.requests(now),
      waitMs: this.#state === 'open' ? Math.max(0, this.#retryAt - now) : 0,
      lastError: this.#lastError && { code: this.#lastError.code, agoMs: now - this.#lastError.at },
    };
  }

  #mayProbe(): boolean {
    return this.#probe === undefined && this.#clock.now() >= this.#retryAt;
  }

  /** Without enforcement there are no probes: the first result after the cooldown counts as one. */
  #isDue(now: number): boolean {
    return !this.settings.enforced && now >= this.#retryAt;
  }

  /** An enforced open breaker admits only a probe and a last resort, and the success of either closes it. */
  #isBack(now: number): boolean {
    return this.settings.enforced || this.#isDue(now);
  }

  #reachesThreshold(now: number): boolean {
    const { failures: most, minRequests, failureRate } = this.settings;
    const failures = this.#window.failures(now);
    const requests = this.#window.requests(now);
    return failures >= most && requests >= minRequests && failures / requests >= failureRate;
  }

  #free(trial: Trial): boolean {
    if (this.#probe !== trial) return false;
    this.#probe = undefined;
    return true;
  }

  /** Extends the wait of an open breaker. In half_open the result of the running probe decides instead. */
  #heed(error: GatewayError, now: number): void {
    const waitMs = requestedWait(error);
    if (this.#state !== 'open' || waitMs <= 0) return;
    this.#retryAt = Math.max(this.#retryAt, now + waitMs);
    this.#tell?.({ waitMs, errorCode: error.code, longer: true });
  }

  #open(error: GatewayError, now: number): void {
    this.#phase += 1;
    const waitMs = Math.max(this.settings.cooldownMs, requestedWait(error));
    this.#retryAt = now + waitMs;
    // A failed probe is no news, and another gateway's may have succeeded.
    if (this.#state === 'closed' && this.settings.enforced)
      this.#tell?.({ waitMs, errorCode: error.code, longer: false });
    this.#become('open', error.code);
  }

  #close(): void {
    this.#phase += 1;
    this.#probe = undefined;
    this.#window.clear();
    this.#become('closed', this.#lastError?.code);
  }

  #become(to: TargetHealth['state'], errorCode: string | undefined): void {
    const from = this.#state;
    // Without enforcement an open breaker can open again, which is not a transition.
    if (from === to) return;
    this.#state = to;
    const now = this.#clock.now();
    const [failures, requests] = [this.#window.failures(now), this.#window.requests(now)];
    this.#onTransition({ from, to, failures, requests, errorCode, waitMs: Math.max(0, this.#retryAt - now) });
  }
}

let made = 0;

class Trial implements HealthTrial {
  readonly probe: boolean;
  phase: number;
  readonly #breaker: Breaker;
  #ended = false;
  #succeededAt: number | undefined;

  constructor(breaker: Breaker, probe: boolean, phase: number) {
    this.#breaker = breaker;
    this.probe = probe;
    this.phase = phase;
  }

  succeeded(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#succeededAt = this.#breaker.succeeded(this);
  }

  failed(error: GatewayError): void {
    const since = this.#succeededAt;
    if (this.#ended && since === undefined) return;
    this.#ended = true;
    this.#succeededAt = undefined;
    this.#breaker.failed(this, error, since);
  }

  abandoned(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#breaker.abandoned(this);
  }
}

const requestedWait = ({ retryAfterMs = 0 }: GatewayError): number => Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);

/** A status below 500 shows that the upstream answers, even if it refuses the request. */
function verdictOf({ status }: GatewayError, onStatusCodes: ReadonlySet<number>): Verdict {
  if (onStatusCodes.has(status)) return 'failure';
  return status < 500 ? 'alive' : 'unclear';
}
