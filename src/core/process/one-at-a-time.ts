/** Runs a task, never twice at a time. Calls during a run share the next, which sees the changes behind them. */
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
