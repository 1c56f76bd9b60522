import { describe, expect, it } from 'vitest';
import { Silence, SILENCE_LIMIT_MS, TICK_MS } from './pool-member.ts';

const ticks = (silence: Silence, count: number): Set<string> =>
  new Set(Array.from({ length: count }, () => silence.tick()));

describe('a silent worker', () => {
  it('is pinged after 1 s, suspect after 2 s, and killed after 10 s', () => {
    const silence = new Silence();
    expect(SILENCE_LIMIT_MS).toBe(10_000);
    expect(silence.tick()).toBe('nothing');
    expect([...ticks(silence, 2), silence.isSuspect]).toEqual(['ask', false]);
    expect([silence.tick(), silence.isSuspect]).toEqual(['ask', true]);
    const last = SILENCE_LIMIT_MS / TICK_MS - 1;
    expect(ticks(silence, last - 4)).toEqual(new Set(['ask']));
    expect(silence.tick()).toBe('end');
  });

  it('is trusted again after its next message', () => {
    const silence = new Silence();
    ticks(silence, 10);
    silence.reset();
    expect([silence.isSuspect, silence.tick()]).toEqual([false, 'nothing']);
  });

  it('gets only the time to become suspect once its drain is over', () => {
    const silence = new Silence();
    ticks(silence, 2);
    silence.shortenLimit();
    expect([silence.tick(), silence.tick()]).toEqual(['ask', 'end']);
  });

  it('is not killed while its messages arrive in time', () => {
    const silence = new Silence();
    for (let round = 0; round < 3; round += 1) {
      expect(ticks(silence, 19)).not.toContain('end');
      silence.reset();
    }
  });
});
