import { createFakeClock, type FakeClock } from '../../plugin/testing/fake-clock.ts';
import type { Traffic } from './memory-socket.ts';

/** Test time after which a request counts as never ending. */
const MOST_FAKE_MS = 24 * 60 * 60 * 1000;
const MOST_REAL_MS = 5000;

/** Idle turns of the event loop: undici and node:http delay some of their steps by one or two. */
const QUIET_TURNS = 4;

/** Work of external plugins on other threads is not visible; they get this much real time before test time passes. */
const PATIENCE_MS = 20;
/** Milliseconds of test time; the shortest default limit. */
const LONG_MS = 1000;
/** Visible work (a file, a real timer) is awaited, but only this long, because some timers never end. */
const MOST_PATIENCE_MS = 2000;

export interface CaseTime {
  readonly clock: FakeClock;
  readonly traffic: Traffic;
  /** Whether an external plugin that is not pure is in use. */
  readonly patient: () => boolean;
}

export const startTime = (traffic: Traffic, wall: number, patient: () => boolean): CaseTime => ({
  clock: createFakeClock(wall),
  traffic,
  patient,
});

/** Jumps from timer to timer until `over`, while nothing progresses. Returns the reason if it does not end. */
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
    // The next timer may only be a limit (`limits.plugin_time`, the deadline); a thread that a plugin waits for must
    // come first.
    if ((next === undefined || next >= LONG_MS) && patient() && outside.hasPatience) continue;
    if (next === undefined) return 'it waits for an event that never occurs';
    if (clock.now() + next > last) return 'it did not end within a day of test time';
    await clock.advance(next);
  }
}

/** Returns false when the work does not end in real time, such as a plugin that retries forever. */
async function settle(traffic: Traffic, over: () => boolean, until: number): Promise<boolean> {
  for (let quiet = 0; quiet < QUIET_TURNS && !over(); quiet = traffic.still ? quiet + 1 : 0) {
    await turn();
    if (performance.now() > until) return over();
  }
  return true;
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that the process waits for outside the test's memory: system requests, real timers. */
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
