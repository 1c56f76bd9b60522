import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindow } from './sliding-window.ts';

const counts = (window: SlidingWindow, now: number): readonly [requests: number, failures: number] => [
  window.requests(now),
  window.failures(now),
];

describe('the sliding window', () => {
  it('drops older counts, a tenth at a time', () => {
    const window = new SlidingWindow(1000);
    window.add(50, true);
    window.add(150, false);
    expect(counts(window, 999)).toEqual([2, 1]);
    expect(counts(window, 1000)).toEqual([1, 0]);
    expect(counts(window, 1100)).toEqual([0, 0]);
  });

  it('is empty after a long silence', () => {
    const window = new SlidingWindow(1000);
    for (let at = 0; at < 1000; at += 100) window.add(at, true);
    window.add(123_456, false);
    expect(counts(window, 123_456)).toEqual([1, 0]);
  });

  it.each([
    ['once, when it is still in the window', 950, [1, 1]],
    ['as a new one, when it has left it', 5000, [1, 1]],
  ])('counts a request that fails late %s', (_, late, expected) => {
    const window = new SlidingWindow(1000);
    window.add(0, false);
    window.turn(0, late);
    expect(counts(window, late)).toEqual(expected);
    expect(counts(window, late + 999 - (late % 100)), 'and from the moment it failed').toEqual(expected);
  });

  it('agrees with a list of all times, to a tenth of its length', () => {
    const step = fc.record({ wait: fc.nat(700), failed: fc.boolean(), late: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3000 }), (steps, windowMs) => {
        const window = new SlidingWindow(windowMs);
        const all: { at: number; failed: boolean }[] = [];
        let now = 0;
        for (const { wait, failed, late } of steps) {
          now += wait;
          const before = late ? all.find((one) => !one.failed) : undefined;
          if (before) {
            window.turn(before.at, now);
            Object.assign(before, { at: now, failed: true });
          } else {
            window.add(now, failed);
            all.push({ at: now, failed });
          }
          const within = (ms: number) => all.filter(({ at }) => at > now - ms);
          const [requests, failures] = counts(window, now);
          expect(requests).toBeLessThanOrEqual(within(windowMs).length);
          expect(requests).toBeGreaterThanOrEqual(within(windowMs * 0.9 - 0.001).length);
          expect(failures).toBeLessThanOrEqual(within(windowMs).filter((one) => one.failed).length);
          expect(failures).toBeGreaterThanOrEqual(within(windowMs * 0.9 - 0.001).filter((one) => one.failed).length);
          expect(failures).toBeLessThanOrEqual(requests);
        }
      }),
    );
  });
});
