import { createFakeClock, type FakeClock } from '../plugin/testing/fake-clock.ts';
import type { Traffic } from './memory-socket.ts';

/** No request takes so long: what is still under way then never ends. */
const MOST_FAKE_MS = 24 * 60 * 60 * 1000;
const MOST_REAL_MS = 5000;

/** Turns of the event loop without anything on its way: undici and node:http put some of their steps off for one or two. */
const QUIET_TURNS = 4;

/** What plugins from outside may wait for (a file, a thread) shows nowhere: they are given so long before time passes. */
const PATIENCE_MS = 20;

export interface CaseTime {
  readonly clock: FakeClock;
  readonly traffic: Traffic;
  /** Some plugin is not built in. */
  readonly patient: () => boolean;
}

export const startTime = (traffic: Traffic, wall: number, patient: () => boolean): CaseTime => ({
  clock: createFakeClock(wall),
  traffic,
  patient,
});

/**
 * Lets time pass until `over`: as long as something moves it stands still, then it jumps to whatever is due next. Gives why it came
 * to no end.
 */
export async function passTime(
  { clock, traffic, patient }: CaseTime,
  over: () => boolean,
  mostRealMs = MOST_REAL_MS,
): Promise<string | undefined> {
  const until = performance.now() + mostRealMs;
  for (;;) {
    if (!(await settle(traffic, over, until))) return `it did not end within ${mostRealMs / 1000} s of real time`;
    if (over()) return undefined;
    if (patient()) {
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
      await settle(traffic, over, until);
      if (over()) return undefined;
    }
    const [next] = clock.pending;
    if (next === undefined) return 'it waits for something that never comes';
    if (clock.now() + next > MOST_FAKE_MS) return 'it did not end within a day of its own time';
    await clock.advance(next);
  }
}

/** False: there is no end of it in real time, as of a plugin that tries again and again. */
async function settle(traffic: Traffic, over: () => boolean, until: number): Promise<boolean> {
  for (let quiet = 0; quiet < QUIET_TURNS && !over(); quiet = traffic.still ? quiet + 1 : 0) {
    await turn();
    if (performance.now() > until) return over();
  }
  return true;
}

/** What can go on goes on. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
