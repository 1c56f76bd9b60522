import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { sameThreadStore } from '../../budgets/store/sqlite/same-thread-store.testkit.ts';
import { BrowserSessions } from './sessions.ts';

const MINUTE_MS = 60_000;

describe('sessions of browsers', () => {
  it('end after an hour without a call, and after eight hours', async () => {
    const clock = createFakeClock();
    const sessions = new BrowserSessions(clock);
    const [used, idle] = [await sessions.create({ tokenDigest: 'a' }), await sessions.create({ tokenDigest: 'b' })];
    const find = async ({ cookie, csrf }: typeof used) => (await sessions.find(cookie, csrf))?.tokenDigest;
    const found: (string | undefined)[] = [];
    for (let half = 0; half < 16; half += 1) {
      await clock.advance(30 * MINUTE_MS);
      found.push(await find(used));
    }
    expect(found).toEqual([...Array.from({ length: 15 }, () => 'a'), undefined]);
    expect(await find(idle)).toBeUndefined();
  });

  it('are a thousand at most: the one that was used longest ago ends', async () => {
    const sessions = new BrowserSessions(createFakeClock());
    const [first, second] = [await sessions.create({ tokenDigest: '1' }), await sessions.create({ tokenDigest: '2' })];
    await sessions.find(first.cookie, first.csrf);
    for (let count = 2; count <= 1_000; count += 1) await sessions.create({ tokenDigest: 'x' });
    expect(await sessions.find(first.cookie, first.csrf)).toBeDefined();
    expect(await sessions.find(second.cookie, second.csrf)).toBeUndefined();
  });

  it('are known to each gateway on a store, where they end with each half, with their time, and for all', async () => {
    const clock = createFakeClock();
    const state: { store: Pick<StateStore, 'claims'> | undefined } = { store: sameThreadStore(clock) };
    const [one, other] = [new BrowserSessions(clock, state), new BrowserSessions(clock, state)];
    const { cookie, csrf, expiresAt } = await one.create({ tokenDigest: 'a' });
    expect(await other.find(cookie, csrf)).toEqual({ tokenDigest: 'a', expiresAt });
    expect([await other.find(cookie, 'x'), await other.find('x', csrf)]).toEqual([undefined, undefined]);
    for (let half = 0; half < 3; half += 1) {
      await clock.advance(30 * MINUTE_MS);
      expect(await (half % 2 ? one : other).find(cookie, csrf)).toBeDefined();
    }
    const { store } = state;
    state.store = undefined;
    expect(await one.find(cookie, csrf)).toBeDefined();
    state.store = store;
    await other.end(cookie);
    expect(await one.find(cookie, csrf)).toBeUndefined();
    const late = await one.create({ tokenDigest: 'b' });
    await clock.advance(60 * MINUTE_MS);
    expect(await other.find(late.cookie, late.csrf)).toBeUndefined();
  });
});
