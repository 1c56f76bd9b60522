/** Work that pauses where it may. */
export type SlicedWork<T> = Generator<void, T>;

/** Without a pause. */
export function toTheEnd<T>(steps: SlicedWork<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
