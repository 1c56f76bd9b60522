import { describe, expect, it } from 'vitest';
import { pauseBefore } from './backoff.ts';

describe('the place of a worker that died', () => {
  it.each([
    { served: 60_000, before: 0, pause: 0, what: 'is filled at once when it did serve' },
    { served: 1_000, before: 30_000, pause: 0, what: 'is filled at once when it served after bad starts' },
    { served: 999, before: 0, pause: 1_000, what: 'waits a second when it died at its start' },
    { served: undefined, before: 0, pause: 1_000, what: 'waits a second when it never served' },
    { served: undefined, before: 1_000, pause: 2_000, what: 'waits twice as long the next time' },
    { served: 10, before: 16_000, pause: 30_000, what: 'waits half a minute at most' },
    { served: 10, before: 30_000, pause: 30_000, what: 'goes on waiting half a minute' },
  ])('$what', ({ served, before, pause }) => {
    expect(pauseBefore(served, before)).toBe(pause);
  });
});
