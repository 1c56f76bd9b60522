/** Work with points at which it may pause. */
export type SlicedWork<T> = Generator<void, T>;

/** Runs the work without pausing. */
export function toTheEnd<T>(steps: SlicedWork<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
