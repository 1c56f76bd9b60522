import { performance } from 'node:perf_hooks';
import type { Clock } from '../../plugin/clock.ts';

function after(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  wall: Date.now,
  after,
  sleep(ms, cancellation) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stopListening?.();
        resolve();
      }, ms);
      const stopListening = cancellation?.onCancel((reason) => {
        clearTimeout(timer);
        reject(reason);
      });
    });
  },
};
