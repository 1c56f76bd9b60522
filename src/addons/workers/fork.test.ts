import { describe, expect, it } from 'vitest';
import { pauseBefore } from './fork.ts';

describe('the pause before a dead worker is replaced', () => {
  it.each([
    { served: 60_000, before: 0, pause: 0, what: 'is zero if it served' },
    { served: 1_000, before: 30_000, pause: 0, what: 'is zero if it served after failed starts' },
    { served: 999, before: 0, pause: 1_000, what: 'is one second if it died at its start' },
    { served: undefined, before: 0, pause: 1_000, what: 'is one second if it never served' },
    { served: undefined, before: 1_000, pause: 2_000, what: 'doubles the next time' },
    { served: 10, before: 16_000, pause: 30_000, what: 'is at most half a minute' },
    { served: 10, before: 30_000, pause: 30_000, what: 'stays at half a minute' },
  ])('$what', ({ served, before, pause }) => {
    expect(pauseBefore(served, before)).toBe(pause);
  });
});
