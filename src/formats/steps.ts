/** Work in steps. The runner may pause between two steps; the last step returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
