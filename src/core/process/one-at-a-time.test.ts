import { describe, expect, it } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

/** A task whose runs end on the test's command. */
function controlled() {
  const ends: (() => void)[] = [];
  const state = { runs: 0, running: 0, most: 0 };
  const run = oneAtATime(async () => {
    const number = (state.runs += 1);
    state.running += 1;
    state.most = Math.max(state.most, state.running);
    await new Promise<void>((resolve) => ends.push(resolve));
    state.running -= 1;
    return number;
  });
  return { run, state, end: () => ends.shift()!() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('oneAtATime', () => {
  it('gives all calls during a run the one run after it', async () => {
    const { run, state, end } = controlled();
    const first = run();
    const others = [run(), run(), run()];
    end();
    expect(await first).toBe(1);
    await settled();
    expect(state).toEqual({ runs: 2, running: 1, most: 1 });
    end();
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
    expect(state.runs).toBe(2);
  });

  it('runs again for a call after a run has ended', async () => {
    const { run, state, end } = controlled();
    for (const number of [1, 2, 3]) {
      const result = run();
      end();
      expect(await result).toBe(number);
    }
    expect(state.most).toBe(1);
  });

  it('does not start a second run for a call at the moment a run ends', async () => {
    const { run, state, end } = controlled();
    const first = run();
    const second = run();
    const third = first.then(() => run());
    end();
    await settled();
    end();
    await settled();
    if (state.runs > 2) end();
    expect([await second, await third].every((number) => number >= 2)).toBe(true);
    expect(state.most).toBe(1);
  });
});
