import { GatewayError, type Clock } from '../plugin/index.ts';
import type { InFlight } from './admission/in-flight.ts';

/** An attempt has a timer of its own for the same moment, and its error says more: it comes first. */
const GRACE_MS = 50;
/** No two looks are nearer to each other, however many deadlines there are. */
const STEP_MS = 25;
/** Timers take no more than 2^31 ms; a deadline may be further away. */
const MOST_MS = 60 * 60 * 1000;

/**
 * Ends requests whose deadline passes while no attempt runs: in a plugin, in a body that is still arriving, in a wait. One timer for all
 * requests: it is set for the nearest deadline, and a request that ends in time costs a comparison.
 */
export class RequestDeadlines {
  readonly #clock: Clock;
  readonly #inFlight: Pick<InFlight, 'waiting'>;
  /** When the timer is due. */
  #dueAt = Infinity;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, inFlight: Pick<InFlight, 'waiting'>) {
    this.#clock = clock;
    this.#inFlight = inFlight;
  }

  /** A request must have ended by then: monotonic milliseconds. */
  readonly expect = (deadline: number): void => {
    if (deadline + GRACE_MS < this.#dueAt) this.#waitUntil(deadline + GRACE_MS);
  };

  #waitUntil(at: number): void {
    this.#stop?.();
    const ms = Math.min(Math.max(at - this.#clock.now(), STEP_MS), MOST_MS);
    this.#dueAt = this.#clock.now() + ms;
    this.#stop = this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    this.#dueAt = Infinity;
    this.#stop = undefined;
    const now = this.#clock.now();
    let next = Infinity;
    for (const { startedAt, deadline, cancellation } of this.#inFlight.waiting()) {
      if (cancellation.reason) continue;
      if (deadline + GRACE_MS <= now) cancellation.cancel(outOfTime(deadline - startedAt));
      else next = Math.min(next, deadline);
    }
    if (next < Infinity) this.expect(next);
  }
}

const outOfTime = (ms: number): GatewayError =>
  new GatewayError(
    'timeout_request',
    `The request's deadline of ${Math.round(ms)} ms passed before there was a reply.`,
  );
