import { describe, expect, it } from 'vitest';
import { Silence, SILENCE_LIMIT_MS, TICK_MS } from './silence.ts';

const ticks = (silence: Silence, count: number): Set<string> =>
  new Set(Array.from({ length: count }, () => silence.tick()));

describe('a worker that says nothing', () => {
  it('is asked after 1 s, suspect after 2 s, and ended after 10 s', () => {
    const silence = new Silence();
    expect(SILENCE_LIMIT_MS).toBe(10_000);
    expect(silence.tick()).toBe('nothing');
    expect([...ticks(silence, 2), silence.isSuspect]).toEqual(['ask', false]);
    expect([silence.tick(), silence.isSuspect]).toEqual(['ask', true]);
    const last = SILENCE_LIMIT_MS / TICK_MS - 1;
    expect(ticks(silence, last - 4)).toEqual(new Set(['ask']));
    expect(silence.tick()).toBe('end');
  });

  it('is trusted again with its first word', () => {
    const silence = new Silence();
    ticks(silence, 10);
    silence.heard();
    expect([silence.isSuspect, silence.tick()]).toEqual([false, 'nothing']);
  });

  it('has no more time than it takes to be suspect when its drain is over', () => {
    const silence = new Silence();
    ticks(silence, 2);
    silence.endPatience();
    expect([silence.tick(), silence.tick()]).toEqual(['ask', 'end']);
  });

  it('is left alone as long as it says something in time', () => {
    const silence = new Silence();
    for (let round = 0; round < 3; round += 1) {
      expect(ticks(silence, 19)).not.toContain('end');
      silence.heard();
    }
  });
});
