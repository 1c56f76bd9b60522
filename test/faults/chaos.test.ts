import { afterEach, describe, expect, it } from 'vitest';
import {
  AT_ONCE,
  Fleet,
  isWhole,
  notReady,
  scrape,
  startHeldUpstream,
  stream,
  total,
  wentBack,
} from '../cli/workers.testkit.ts';
import { until } from '../support/gateway.ts';

const STREAMS = 200;

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function start() {
  const upstream = await startHeldUpstream();
  ended.push(() => upstream.close());
  const fleet = new Fleet({ upstream: upstream.url });
  ended.push(() => fleet.end());
  return { upstream, fleet, ...(await fleet.listens()) };
}

/** All have their first word, and wait for the rest. */
async function begin(url: string) {
  const streams = Array.from({ length: STREAMS }, () => stream(url));
  await until(() => streams.every(({ text }) => text.includes('begun')), 'all streams have begun');
  return streams;
}

describe('200 streams on two workers', () => {
  it('of which one is killed: its clients see their connections closed, the others their whole replies, and no counter goes back', async () => {
    const { upstream, fleet, url, statusUrl } = await start();
    const earlier = Array.from({ length: 20 }, () => stream(url, AT_ONCE));
    await until(() => earlier.every(isWhole), 'both have counted');
    const streams = await begin(url);
    const scrapes = [await scrape(statusUrl)];
    const watching = new AbortController();
    const watched = (async () => {
      while (!watching.signal.aborted) scrapes.push(await scrape(statusUrl));
    })();

    process.kill(fleet.workers[0]!, 'SIGKILL');
    await until(() => streams.some(({ state }) => state === 'closed'), 'clients see it');
    await until(() => fleet.workers.length === 3, 'another worker serves');
    const lost = streams.filter(({ state }) => state === 'closed').length;
    upstream.letGo();
    await until(() => streams.every(({ state }) => state !== 'running'), 'the others have ended');
    const whole = streams.filter(isWhole).length;
    expect(lost).toBeGreaterThan(0);
    expect({ lost, whole }).toEqual({ lost, whole: STREAMS - lost });

    const later = Array.from({ length: 10 }, () => stream(url));
    await until(() => later.every(isWhole), 'requests go on');
    await until(() => new Set(fleet.lines.slice(-10).map(({ worker }) => worker)).has(3), 'the new one has some');
    watching.abort();
    await watched;
    scrapes.push(await scrape(statusUrl));
    expect(scrapes.slice(1).flatMap((after, index) => wentBack(scrapes[index]!, after))).toEqual([]);
    const last = scrapes.at(-1)!;
    expect(total(last, 'gatehouse_requests_total')).toBe(20 + whole + 10);
    expect(last.get('gatehouse_worker_exits_total{reason="signal"}')).toBe(1);
    expect(last.get('gatehouse_workers')).toBe(2);
    expect(total(last, 'gatehouse_requests_in_flight')).toBe(0);
  }, 60_000);

  it('when SIGTERM comes: not ready at once, every stream whole, exit code 0', async () => {
    const { upstream, fleet, url, statusUrl } = await start();
    const streams = await begin(url);
    fleet.signal('SIGTERM');
    await notReady(statusUrl);
    expect(streams.every(({ state }) => state === 'running')).toBe(true);
    upstream.letGo();
    await until(() => streams.every(({ state }) => state !== 'running'), 'all have ended');
    expect(streams.filter(isWhole)).toHaveLength(STREAMS);
    expect(await fleet.exited).toBe(0);
  }, 60_000);
});
