import type { Clock } from '../../../plugin/index.ts';

/** There was no answer within the limit. */
export class TooSlow extends Error {}

/** The result, or a rejection with TooSlow after `limitMs`; what comes later is dropped. */
export function within<T>(answer: Promise<T>, limitMs: number, clock: Pick<Clock, 'after'>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => reject(new TooSlow(`no answer within ${limitMs} ms`)));
    answer.then(resolve, reject).finally(cancel);
  });
}
