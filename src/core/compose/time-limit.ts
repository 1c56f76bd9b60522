import { Cancellation, GatewayError, type Clock } from '../../plugin/index.ts';

export class TimeLimitPassed extends Error {
  override readonly name = 'TimeLimitPassed';
  constructor(ms: number) {
    super(`it did not end within ${Math.round(ms) / 1000} s`);
  }
}

const ENDED = new GatewayError('internal_error', 'The work has ended.');

/** Awaits the work, or throws TimeLimitPassed. The work itself cannot be cancelled and continues without a waiter. */
export async function withinTime<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  const waiting = new Cancellation();
  // Not `clock.after`, whose timers do not keep the process alive: at start-up nothing else may be pending, and Node
  // would exit silently while the work hangs.
  const limit = clock.sleep(ms, waiting).then(() => {
    throw new TimeLimitPassed(ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    waiting.cancel(ENDED);
  }
}
