/** Work that can stop between its steps, and gives its result after the last. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** All steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
