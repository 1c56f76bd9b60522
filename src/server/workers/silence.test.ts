import { describe, expect, it } from 'vitest';
import { Silence, SILENCE_LIMIT_MS, TICK_MS } from './silence.ts';

const ticks = (silence: Silence, count: number): Set<string> =>
  new Set(Array.from({ length: count }, () => silence.tick()));

describe('a worker that says nothing', () => {
  it('is asked first, and ended after 30 s', () => {
    const silence = new Silence();
    const last = SILENCE_LIMIT_MS / TICK_MS - 1;
    expect(ticks(silence, 4)).toEqual(new Set(['nothing']));
    expect(ticks(silence, last - 4)).toEqual(new Set(['ask']));
    expect(silence.tick()).toBe('end');
  });

  it('is left alone as long as it says something in time', () => {
    const silence = new Silence();
    for (let round = 0; round < 3; round += 1) {
      expect(ticks(silence, 29)).not.toContain('end');
      silence.heard();
    }
  });
});
