/**
 * Runs a task, never twice at a time. All calls during a run share the one run after it: that run begins after the
 * calls, so it sees the changes behind them. The task must not throw.
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
