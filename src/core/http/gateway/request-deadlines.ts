import { GatewayError, type Clock } from '../../../plugin/index.ts';
import type { InFlight } from './admission/in-flight.ts';
import { GRACE_MS } from './reply-writer.ts';

/** Minimum time between two checks, however many deadlines there are. */
const STEP_MS = 25;
/** Timers accept at most 2^31 ms; a deadline may be later. */
const MOST_MS = 60 * 60 * 1000;

/** Ends requests whose deadline passes while no attempt runs. One timer, for the nearest deadline, serves all. */
export class RequestDeadlines {
  readonly #clock: Clock;
  readonly #inFlight: Pick<InFlight, 'waiting'>;
  #dueAt = Infinity;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, inFlight: Pick<InFlight, 'waiting'>) {
    this.#clock = clock;
    this.#inFlight = inFlight;
  }

  /** Registers the deadline of a request, in monotonic milliseconds. */
  readonly expect = (deadline: number): void => {
    if (deadline + GRACE_MS < this.#dueAt) this.#waitUntil(deadline + GRACE_MS);
  };

  #waitUntil(at: number): void {
    this.#stop?.();
    const ms = Math.min(Math.max(at - this.#clock.now(), STEP_MS), MOST_MS);
    this.#dueAt = this.#clock.now() + ms;
    this.#stop = this.#clock.after(ms, () => this.#check());
  }

  #check(): void {
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
  new GatewayError('timeout_request', `The request's deadline of ${Math.round(ms)} ms passed before the reply began.`);
