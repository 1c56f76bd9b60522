import type { EventEmitter } from 'node:events';
import type { Clock } from '../../plugin/index.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT';

/**
 * npm, `timeout` and other parents forward a signal that the terminal or the process group has already delivered to
 * all. A signal this soon after the first is the same one, not an impatient second one.
 */
const SAME_SIGNAL_MS = 500;

/** Resolves with the first stop signal; `onSecond` is called for each later one. */
export function stopSignal(
  process: Pick<EventEmitter, 'on'>,
  clock: Pick<Clock, 'now'>,
  onSecond: () => void,
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const handle = (signal: StopSignal): void => {
      if (first === undefined) {
        first = clock.now();
        resolve(signal);
      } else if (clock.now() - first >= SAME_SIGNAL_MS) onSecond();
    };
    process.on('SIGTERM', handle).on('SIGINT', handle);
  });
}
