import type { Steps } from '../../../formats/steps.ts';
import type { Clock } from '../../../plugin/index.ts';

/** Maximum delay of served requests by a question, apart from the longest single step. */
const SLICE_MS = 10;

/** Runs work in short slices and lets the process serve requests in between. */
export async function inSlices<T>(steps: Steps<T>, clock: Pick<Clock, 'now'>): Promise<T> {
  for (;;) {
    const from = clock.now();
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock.now() - from < SLICE_MS);
    await new Promise((resolve) => void setImmediate(resolve));
  }
}
