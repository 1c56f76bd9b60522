/**
 * Runs a task, never twice at a time. Who asks while it runs gets the run after it, one for all who ask: it begins after they
 * did, so it sees what they want seen. The task must not throw.
 */
export function oneAtATime<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const run = task().finally(() => {
      if (running === run) running = undefined;
    });
    running = run;
    return run;
  };
  return () => {
    if (next) return next;
    if (!running) return begin();
    next = running.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}
