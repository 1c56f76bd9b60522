import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';

describe('work with a time limit', () => {
  it('settles as the work does, and leaves no timer behind', async () => {
    const clock = createFakeClock();
    expect(await withinTime(Promise.resolve('done'), 1000, clock)).toBe('done');
    await expect(withinTime(Promise.reject(new Error('its own')), 1000, clock)).rejects.toThrow('its own');
    expect(clock.pending).toEqual([]);
  });

  it('is given up at the limit, and a later failure of it is ignored', async () => {
    const clock = createFakeClock();
    const { promise, reject } = Promise.withResolvers<void>();
    const refused = withinTime(promise, 10_000, clock).catch((error: unknown) => error);
    await clock.advance(10_000);
    expect(await refused).toEqual(new TimeLimitPassed(10_000));
    reject(new Error('too late'));
    await clock.advance(0);
    expect(clock.pending).toEqual([]);
  });
});
