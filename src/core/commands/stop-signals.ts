import type { EventEmitter } from 'node:events';
import type { Clock } from '../../plugin/index.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT';

/** Parents such as npm forward a signal that the process group already has: one this soon is the same one. */
const SAME_SIGNAL_MS = 500;

/** Resolves with the first stop signal; `onSecond` is called for each later one. */
export const stopSignal = (
  process: Pick<EventEmitter, 'on'>,
  clock: Pick<Clock, 'now'>,
  onSecond: () => void,
): Promise<StopSignal> =>
  new Promise((resolve) => {
    let first: number | undefined;
    const handle = (signal: StopSignal): void => {
      if (first === undefined) {
        first = clock.now();
        resolve(signal);
      } else if (clock.now() - first >= SAME_SIGNAL_MS) onSecond();
    };
    process.on('SIGTERM', handle).on('SIGINT', handle);
  });
