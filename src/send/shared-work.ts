import type { Clock, GatewayError, Limit } from '../plugin/index.ts';

interface Wait extends Limit {
  readonly clock: Clock;
  /** Creates the error of a wait that reaches its deadline. */
  readonly outOfTime: () => GatewayError;
}

/**
 * Waits for work that other requests share. The wait ends at the deadline and with the request; the work continues for
 * the others.
 */
export function waitForShared<T>(work: Promise<T>, { clock, cancellation, deadline, outOfTime }: Wait): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  work.then(resolve, reject);
  const stopTimer = clock.after(Math.max(0, deadline - clock.now()), () => reject(outOfTime()));
  const stopListening = cancellation.onCancel(reject);
  return promise.finally(() => {
    stopTimer();
    stopListening();
  });
}
