import { UpstreamError, type Clock } from '../../src/plugin/index.ts';
import type { Attempt, CachedReply } from '../../src/core/kernel/index.ts';

/**
 * `lead`: the leader's client disconnected, and this follower sends the request. `alone`: there is no reply to share,
 * and each follower sends its own request, because waiting in turn would add up the delays of a failing upstream.
 */
export type FlightResult = CachedReply | 'lead' | 'alone';

/** Single-flight for identical requests. Bounded by the number of requests in flight. */
export class Flights {
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, Flight>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): Flight | undefined {
    return this.#inFlight.get(key);
  }

  /** Starts a flight. The caller leads it and must end it. */
  begin(key: string): Flight {
    const flight = new Flight(this.#clock, () => this.#inFlight.delete(key));
    this.#inFlight.set(key, flight);
    return flight;
  }
}

export class Flight {
  readonly #clock: Clock;
  readonly #onOver: () => void;
  /** In order of arrival: the follower that has waited longest has the least time left and leads next. */
  readonly #followers = new Set<(result: FlightResult) => void>();

  constructor(clock: Clock, onOver: () => void) {
    this.#clock = clock;
    this.#onOver = onOver;
  }

  /** Rejects at the attempt's deadline, and when the follower's own client disconnects. */
  wait(attempt: Attempt): Promise<FlightResult> {
    const { cancellation, deadline } = attempt;
    cancellation.throwIfCancelled();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#followers.delete(follower);
        stopTimer();
        stopListening();
      };
      const follower = (result: FlightResult): void => {
        settle();
        resolve(result);
      };
      // A waiting attempt has no try whose timer would end it.
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

  end(result: FlightResult): void {
    const [first] = this.#followers;
    if (result === 'lead' && first) return first('lead');
    this.#onOver();
    for (const follower of this.#followers) follower(result);
  }
}

export function outOfTime({ timeouts, startedAt, deadline, resolved }: Attempt): UpstreamError {
  const isTotal = deadline >= startedAt + timeouts.total;
  const limit = isTotal ? `within ${timeouts.total / 1000}s (timeouts.total)` : "before the request's deadline";
  return new UpstreamError(
    isTotal ? 'timeout_total' : 'timeout_request',
    `No answer ${limit}, while waiting for the reply to an identical request.`,
    resolved && { provider: resolved.slug },
  );
}
