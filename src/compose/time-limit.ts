import { Cancellation, GatewayError, type Clock } from '../plugin/index.ts';

/** Work that did not end in the time it was given. */
export class TimeLimitPassed extends Error {
  override readonly name = 'TimeLimitPassed';
  constructor(ms: number) {
    super(`it did not end within ${Math.round(ms) / 1000} s`);
  }
}

const ENDED = new GatewayError('internal_error', 'The work has ended.');

/** The work's own end, or a TimeLimitPassed: what nobody can call off goes on, but nobody waits for it. */
export async function withinTime<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  const waiting = new Cancellation();
  // Not `clock.after`, whose timers keep no process alive: at a start, work that hangs may be all there is, and Node would
  // exit without a word.
  const limit = clock.sleep(ms, waiting).then(() => {
    throw new TimeLimitPassed(ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    waiting.cancel(ENDED);
  }
}
