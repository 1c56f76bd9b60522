import type { FakeClock } from './fake-clock.ts';

/** The end of a plugin's work. */
interface Finished<T> {
  /** False: it waits for something other than the clock, for too long. */
  readonly ended: boolean;
  readonly left: boolean;
  readonly value: T | undefined;
  readonly thrown: unknown;
}

/** The client leaves at a wait, counted from 0. The clock then stands: a sleep that ends only with its time is too long. */
interface Leaving {
  readonly wait: number;
  readonly leave: () => void;
}

/** Milliseconds that work may take in all, and after the client has left. A slow machine gets at least `LEAST_TURNS` of the event loop. */
export const LIMIT_MS = 5000;
export const LIMIT_MS_AFTER_LEAVING = 100;
const LEAST_TURNS = 60;

/** Moves the clock from wait to wait until the work has ended. */
export async function finish<T>(work: Promise<T>, clock: FakeClock, leaving?: Leaving): Promise<Finished<T>> {
  let result: Pick<Finished<T>, 'value' | 'thrown'> | undefined;
  work.then(
    (value) => (result = { value, thrown: undefined }),
    (thrown: unknown) => (result = { value: undefined, thrown }),
  );
  let left = false;
  let [end, lastTurn] = [performance.now() + LIMIT_MS, LEAST_TURNS];
  for (let turns = 0; ; turns += 1) {
    await clock.advance(0);
    if (result) return { ended: true, left, ...result };
    if (turns === leaving?.wait) {
      leaving.leave();
      left = true;
      [end, lastTurn] = [performance.now() + LIMIT_MS_AFTER_LEAVING, turns + LEAST_TURNS];
    }
    if (performance.now() > end && turns > lastTurn) return { ended: false, left, value: undefined, thrown: undefined };
    const due = left ? undefined : clock.pending[0];
    if (due === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
    else await clock.advance(due);
  }
}
