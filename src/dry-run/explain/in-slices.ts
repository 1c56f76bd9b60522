import type { SlicedWork } from '../explanation/field-sources/steps.ts';
import type { Clock } from '../../plugin/index.ts';

/** What a request that is served waits for a question, at most: beside the longest of the question's steps. */
const SLICE_MS = 10;

/** Does work for a short time, then lets the process serve whoever has come, and so on. */
export async function inSlices<T>(steps: SlicedWork<T>, clock: Pick<Clock, 'now'>): Promise<T> {
  for (;;) {
    const from = clock.now();
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock.now() - from < SLICE_MS);
    await new Promise((resolve) => void setImmediate(resolve));
  }
}
