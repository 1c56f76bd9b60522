import { GatewayError, type Clock } from '../../../../plugin/index.ts';
import type { Limit, Turns, TurnTaker } from '../../../kernel/index.ts';
import { RecentUse, OwedTime, timesOf } from './shares.ts';

/** Work on bodies up to this size takes a few milliseconds at most and needs no turn. */
export const HEAVY_BYTES = 1_000_000;

/** The largest part of `limits.large_bodies` that one key may have waiting. */
const SHARE_OF_KEY = 0.25;
const RETRY_AFTER_MS = 1000;

interface HeavyTurnsSetup {
  readonly clock: Clock;
  /** Runs the task after the event loop has served pending events: `setImmediate`. */
  readonly nextLoopTurn: (task: () => void) => void;
  /** The number of requests in flight that hold no large body, received or announced. */
  readonly others: () => number;
  readonly reported?: TurnsReports;
}

interface TurnsReports {
  waiting(change: 1 | -1): void;
  waited(ms: number): void;
  /** `limits.large_bodies` refused a request. */
  refused(): void;
}

interface Step {
  readonly taker: TurnTaker;
  /** Runs it and settles its promise. */
  readonly start: () => void;
}

/**
 * Turns for work that blocks the event loop: scanning, parsing and translating bodies of megabytes. One step runs at a
 * time, and the event loop before the next. While requests without a large body are in flight, all steps together take
 * at most half of the process, long ones less (`timesOf`). A key with little recent use does not wait for the long
 * steps of others. Keys take turns; within a key, requests that have begun go first: they hold their parsed bodies.
 */
export class HeavyTurns implements Turns {
  readonly #setup: HeavyTurnsSetup;
  /** Waiting steps by key, in the order in which the keys take turns. */
  readonly #queues = new Map<string, Step[]>();
  readonly #begun = new WeakSet<TurnTaker>();
  #waiting = 0;
  #most = Infinity;
  /** A step runs, or the event loop has not yet run as often as it must after one. */
  #blocked = false;
  #stopTimer: (() => void) | undefined;
  readonly #owed = new OwedTime();
  /** The time that long steps owe, with the larger multiple. */
  readonly #owedByLong = new OwedTime();
  readonly #used = new RecentUse();

  constructor(setup: HeavyTurnsSetup) {
    this.#setup = setup;
  }

  get waiting(): number {
    return this.#waiting;
  }

  apply({ largeBodies }: { readonly largeBodies: number }): void {
    this.#most = largeBodies;
  }

  isHeavy(bytes: number): boolean {
    return bytes > HEAVY_BYTES;
  }

  run<T>(taker: TurnTaker, work: () => T, limit: Limit = taker): T | Promise<T> {
    limit.cancellation.throwIfCancelled();
    if (!this.#blocked && this.#waiting === 0 && this.#startOf(keyOf(taker)) <= this.#setup.clock.now()) {
      this.#begun.add(taker);
      return this.#timed(taker, work);
    }
    const refusal = this.#refusal(taker);
    if (refusal) this.#setup.reported?.refused();
    return refusal ? Promise.reject(refusal) : this.#wait(taker, work, limit);
  }

  /** Refuses only requests that have had no turn: the work already done for others would be lost. */
  #refusal(taker: TurnTaker): GatewayError | undefined {
    if (this.#begun.has(taker)) return undefined;
    const share = Math.max(1, Math.floor(this.#most * SHARE_OF_KEY));
    const ofKey = this.#queues.get(keyOf(taker))?.length ?? 0;
    if (this.#waiting < this.#most && ofKey < share) return undefined;
    const message =
      ofKey < share
        ? `${this.#waiting} requests with large bodies are waiting, the limit (limits.large_bodies).`
        : `${ofKey} requests of this key with large bodies are waiting, the limit for one key (a quarter of limits.large_bodies).`;
    return new GatewayError('busy', message, { retryAfterMs: RETRY_AFTER_MS });
  }

  #wait<T>(taker: TurnTaker, work: () => T, { cancellation, deadline }: Limit): Promise<T> {
    const { clock, reported } = this.#setup;
    return new Promise((resolve, reject) => {
      const from = clock.now();
      const settled = (): void => {
        stopListening();
        stopWaiting();
        reported?.waited(clock.now() - from);
      };
      const step: Step = {
        taker,
        start: () => {
          settled();
          this.#begun.add(taker);
          try {
            resolve(this.#timed(taker, work));
          } catch (error) {
            reject(error);
          }
        },
      };
      const giveUp = (reason: GatewayError): void => {
        settled();
        this.#remove(step);
        reject(reason);
      };
      this.#add(step);
      const stopWaiting = clock.after(Math.max(0, deadline - clock.now()), () => giveUp(outOfTime()));
      const stopListening = cancellation.onCancel(giveUp);
      this.#schedule();
    });
  }

  #count(change: 1 | -1): void {
    this.#waiting += change;
    this.#setup.reported?.waiting(change);
  }

  #add(step: Step): void {
    const key = keyOf(step.taker);
    const queue = this.#queues.get(key);
    this.#count(1);
    if (!queue) this.#queues.set(key, [step]);
    else if (this.#begun.has(step.taker)) queue.splice(firstNew(queue, this.#begun), 0, step);
    else queue.push(step);
  }

  #remove(step: Step): void {
    const key = keyOf(step.taker);
    const queue = this.#queues.get(key);
    const at = queue?.indexOf(step) ?? -1;
    if (!queue || at < 0) return;
    queue.splice(at, 1);
    this.#count(-1);
    if (queue.length === 0) this.#queues.delete(key);
  }

  #timed<T>(taker: TurnTaker, work: () => T): T {
    const { clock, nextLoopTurn } = this.#setup;
    this.#blocked = true;
    const from = clock.now();
    try {
      return work();
    } finally {
      const took = clock.now() - from;
      this.#used.add(keyOf(taker), took, from + took);
      const alone = this.#setup.others() === 0;
      this.#owed.add(from, took, alone ? 0 : 1);
      this.#owedByLong.add(from, took, alone ? 0 : timesOf(took));
      const unblock = (): void => this.#unblock();
      // With other requests in flight, the next step waits for a timer and one turn of the event loop, which serves
      // what has arrived; without them for two turns: a body that arrives in the first is served at its end (see
      // `LoopBatch`). A timer would leave the process idle for a millisecond after each step, and V8 would mark its
      // heap then (measured per body of 1 MB: 7.3 ms of CPU with the timer, 4.4 ms without).
      if (alone) nextLoopTurn(() => nextLoopTurn(unblock));
      else clock.after(0, () => nextLoopTurn(unblock));
    }
  }

  #unblock(): void {
    this.#blocked = false;
    this.#schedule();
  }

  #startOf(key: string): number {
    const { startAt } = this.#owed;
    return this.#used.isSmall(key, this.#setup.clock.now()) ? startAt : Math.max(startAt, this.#owedByLong.startAt);
  }

  /** Starts the next step, now or at its earliest moment. */
  #schedule(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#blocked || this.#waiting === 0) return;
    const { clock } = this.#setup;
    const starts = [...this.#queues.keys()].map((key) => ({ key, at: this.#startOf(key) }));
    const next = starts.reduce((first, one) => (one.at < first.at ? one : first));
    const wait = next.at - clock.now();
    if (wait > 0) this.#stopTimer = clock.after(wait, () => this.#schedule());
    else this.#start(next.key);
  }

  #start(key: string): void {
    const queue = this.#queues.get(key)!;
    const step = queue.shift()!;
    this.#count(-1);
    // Moves the key behind all others.
    this.#queues.delete(key);
    if (queue.length > 0) this.#queues.set(key, queue);
    step.start();
  }
}

const keyOf = ({ caller }: TurnTaker): string => caller?.keyId ?? '';

function firstNew(queue: readonly Step[], begun: WeakSet<TurnTaker>): number {
  const at = queue.findIndex(({ taker }) => !begun.has(taker));
  return at < 0 ? queue.length : at;
}

const outOfTime = (): GatewayError =>
  new GatewayError('timeout_request', 'The deadline passed while the request waited to be processed (body over 1 MB).');
