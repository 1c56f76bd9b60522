import { createFakeClock, type FakeClock } from '../../plugin/testing/fake-clock.ts';
import type { Traffic } from './memory-socket.ts';

/** No request takes so long: what is still under way then never ends. */
const MOST_FAKE_MS = 24 * 60 * 60 * 1000;
const MOST_REAL_MS = 5000;

/** Turns of the event loop without anything on its way: undici and node:http put some of their steps off for one or two. */
const QUIET_TURNS = 4;

/** What plugins from outside may wait for on other threads shows nowhere: they are given so long before time passes. */
const PATIENCE_MS = 20;
/** Milliseconds of test time; default limits are at least this long. */
const LONG_MS = 1000;
/** What shows (a file, a timer of their own) is waited for, but not for ever: some timers never end. */
const MOST_PATIENCE_MS = 2000;

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
  { mostMs = MOST_FAKE_MS, mostRealMs = MOST_REAL_MS }: { readonly mostMs?: number; readonly mostRealMs?: number } = {},
): Promise<string | undefined> {
  const last = clock.now() + mostMs;
  const until = performance.now() + mostRealMs;
  const outside = new Outside();
  for (;;) {
    if (!(await settle(traffic, over, until))) return `it did not end within ${mostRealMs / 1000} s of real time`;
    if (over()) return undefined;
    if (patient()) {
      await outside.settle(over);
      await settle(traffic, over, until);
      if (over()) return undefined;
    }
    const [next] = clock.pending;
    // The next thing due may be no more than a limit (`limits.plugin_time`, the deadline): a thread that a plugin waits for comes first.
    if ((next === undefined || next >= LONG_MS) && patient() && outside.hasPatience) continue;
    if (next === undefined) return 'it waits for something that never comes';
    if (clock.now() + next > last) return 'it did not end within a day of its own time';
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

/** What this process waits for beside what moves in memory: requests to the system, timers that are not the case's. */
class Outside {
  readonly #before = countsOf(process.getActiveResourcesInfo());
  #patience = MOST_PATIENCE_MS;

  get hasPatience(): boolean {
    return this.#patience > 0;
  }

  async settle(over: () => boolean): Promise<void> {
    const from = performance.now();
    const waited = (): number => performance.now() - from;
    while (!over() && (waited() < PATIENCE_MS || (waited() < this.#patience && this.#isBusy))) await turn();
    this.#patience -= waited();
  }

  get #isBusy(): boolean {
    return [...countsOf(process.getActiveResourcesInfo())].some(
      ([kind, count]) => kind !== 'Immediate' && count > (this.#before.get(kind) ?? 0),
    );
  }
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
