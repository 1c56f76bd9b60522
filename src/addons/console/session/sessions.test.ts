import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { BrowserSessions } from './sessions.ts';

const MINUTE_MS = 60_000;

describe('sessions of browsers', () => {
  it('end after an hour without a call, and after eight hours', async () => {
    const clock = createFakeClock();
    const sessions = new BrowserSessions(clock);
    const [used, idle] = [sessions.create({ tokenDigest: 'a' }), sessions.create({ tokenDigest: 'b' })];
    const find = ({ cookie, csrf }: typeof used) => sessions.find(cookie, csrf)?.tokenDigest;
    const found: (string | undefined)[] = [];
    for (let half = 0; half < 16; half += 1) {
      await clock.advance(30 * MINUTE_MS);
      found.push(find(used));
    }
    expect(found).toEqual([...Array.from({ length: 15 }, () => 'a'), undefined]);
    expect(find(idle)).toBeUndefined();
  });

  it('are a thousand at most: the one that was used longest ago ends', () => {
    const sessions = new BrowserSessions(createFakeClock());
    const [first, second] = [sessions.create({ tokenDigest: '1' }), sessions.create({ tokenDigest: '2' })];
    sessions.find(first.cookie, first.csrf);
    for (let count = 2; count <= 1_000; count += 1) sessions.create({ tokenDigest: 'x' });
    expect(sessions.find(first.cookie, first.csrf)).toBeDefined();
    expect(sessions.find(second.cookie, second.csrf)).toBeUndefined();
  });
});
