import { UpstreamError, type Attempt, type CachedReply, type Clock } from '../../src/plugin/index.ts';

/**
 * What a follower is told. A reply: the leader's, to be given as its own. `lead`: the leader's client left, this one asks in
 * its place. `alone`: the leader failed, or its reply cannot be shared; each asks for itself, for waiting in turn on an upstream
 * that fails would add up all its failures.
 */
export type Landing = CachedReply | 'lead' | 'alone';

/** Identical requests of which one is at the upstream and the others wait for its answer. Bounded by the requests in the air. */
export class Flights {
  readonly #clock: Clock;
  readonly #inAir = new Map<string, Flight>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): Flight | undefined {
    return this.#inAir.get(key);
  }

  /** Begins one; the caller leads it and must end it. */
  begin(key: string): Flight {
    const flight = new Flight(this.#clock, () => this.#inAir.delete(key));
    this.#inAir.set(key, flight);
    return flight;
  }
}

export class Flight {
  readonly #clock: Clock;
  readonly #onOver: () => void;
  /** In the order they came: who has waited longest, and so has the least time left, leads next. */
  readonly #followers = new Set<(landing: Landing) => void>();

  constructor(clock: Clock, onOver: () => void) {
    this.#clock = clock;
    this.#onOver = onOver;
  }

  /** Waits as long as the attempt may. Rejects when its own client leaves or its own time is up, whatever the others do. */
  wait(attempt: Attempt): Promise<Landing> {
    const { cancellation, deadline } = attempt;
    cancellation.throwIfCancelled();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#followers.delete(follower);
        stopTimer();
        stopListening();
      };
      const follower = (landing: Landing): void => {
        settle();
        resolve(landing);
      };
      // In place of the one that its own try would have; it has none.
      const stopTimer = this.#clock.after(Math.max(0, deadline - this.#clock.now()), () => {
        settle();
        reject(outOfTime(attempt));
      });
      const stopListening = cancellation.onCancel((reason) => {
        settle();
        reject(reason);
      });
      this.#followers.add(follower);
    });
  }

  end(landing: Landing): void {
    const [first] = this.#followers;
    if (landing === 'lead' && first) return first('lead');
    this.#onOver();
    for (const follower of this.#followers) follower(landing);
  }
}

/** The wait for another request's answer was in vain, and there is no time left to ask. */
export function outOfTime({ timeouts, startedAt, deadline, resolved }: Attempt): UpstreamError {
  const isTotal = deadline >= startedAt + timeouts.total;
  const limit = isTotal ? `within ${timeouts.total / 1000}s (timeouts.total)` : "before the request's deadline";
  return new UpstreamError(
    isTotal ? 'timeout_total' : 'timeout_request',
    `No answer ${limit}, waiting for the same request's answer.`,
    resolved && { provider: resolved.slug },
  );
}
