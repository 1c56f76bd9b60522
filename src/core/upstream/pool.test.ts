import { describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { networkWire, PoolDirectory } from './pool.ts';

const KEEP_ALIVE_MS = 55_000;

function setup(max?: number) {
  const clock = createFakeClock();
  const pools = new PoolDirectory(
    () => ({ clock, lookup: () => Promise.resolve(['127.0.0.1']), wire: networkWire() }),
    max,
  );
  const get = (url: string, more: { allowInsecure?: boolean; connections?: number } = {}) =>
    pools.get({ url, allowInsecure: true, connections: 2, ...more });
  const urls = () => pools.all().map(({ url }) => url);
  return { clock, pools, get, urls };
}

describe('pools', () => {
  it('are the same for the same origin and options across settings changes', () => {
    const { pools, get } = setup();
    const pool = get('http://a.test');
    pools.settingsChanged();
    expect(get('http://a.test')).toBe(pool);
    expect(get('http://a.test', { connections: 3 })).not.toBe(pool);
    expect(get('https://a.test', { allowInsecure: false })).not.toBe(pool);
  });

  it('without requests after a settings change are closed once they have been idle for long enough', async () => {
    const { clock, pools, get, urls } = setup();
    get('http://gone.test');
    get('http://kept.test');
    await clock.advance(1000);
    pools.settingsChanged();
    await clock.advance(1);
    get('http://kept.test');
    await clock.advance(KEEP_ALIVE_MS);
    expect(urls()).toEqual(['http://kept.test']);
    expect(clock.pending).toEqual([]);
  });

  it('used shortly before the change keep their full idle time', async () => {
    const { clock, pools, get, urls } = setup();
    await clock.advance(10);
    get('http://late.test');
    pools.settingsChanged();
    await clock.advance(KEEP_ALIVE_MS - 1);
    expect(urls()).toEqual(['http://late.test']);
    await clock.advance(2 * KEEP_ALIVE_MS);
    expect(urls()).toEqual([]);
  });

  it('stay open without settings changes, and use one timer for any number of changes', async () => {
    const { clock, pools, get, urls } = setup();
    get('http://a.test');
    await clock.advance(10 * KEEP_ALIVE_MS);
    expect([urls(), clock.started]).toEqual([['http://a.test'], 0]);
    for (let n = 0; n < 100; n += 1) pools.settingsChanged();
    expect(clock.pending.length).toBe(1);
  });

  it('above the maximum are closed when idle, least recently used first', async () => {
    const { clock, get, urls } = setup(2);
    const work = ['a', 'b', 'c', 'd'].map((name) => {
      const pool = get(`http://${name}.test`);
      return vi.spyOn(pool, 'busy', 'get').mockReturnValue(true);
    });
    expect(urls(), 'all of them are at work').toHaveLength(4);
    for (const busy of work) busy.mockReturnValue(false);
    await clock.advance(1);
    get('http://a.test');
    get('http://new.test');
    expect(urls()).toEqual(['http://a.test', 'http://new.test']);
  });
});
