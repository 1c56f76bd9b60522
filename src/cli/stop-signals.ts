import type { EventEmitter } from 'node:events';
import type { Clock } from '../plugin/index.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT';

/**
 * npm, `timeout` and other parents pass a signal on that the terminal or the group has given to everybody already. What comes so
 * soon after the first is the same one, not somebody who has lost patience.
 */
const SAME_SIGNAL_MS = 500;

/** Resolves with the first signal to stop; `onSecond` is called for every later one. */
export function stopSignal(
  process: Pick<EventEmitter, 'on'>,
  clock: Pick<Clock, 'now'>,
  onSecond: () => void,
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const hear = (signal: StopSignal): void => {
      if (first === undefined) {
        first = clock.now();
        resolve(signal);
      } else if (clock.now() - first >= SAME_SIGNAL_MS) onSecond();
    };
    process.on('SIGTERM', hear).on('SIGINT', hear);
  });
}
