import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import {
  allEnded,
  AT_ONCE,
  isAlive,
  isWhole,
  scrape,
  startFleet,
  stream,
  type FleetSettings,
  type Running,
  type Stream,
} from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const start = (options?: Omit<FleetSettings, 'upstream'>): Promise<Running> => startFleet(ended, options);

describe('of two workers', () => {
  it('one that died leaves the connection that was on its way to it to the other', async () => {
    const { upstream, fleet, url } = await start();
    upstream.letGo();
    process.kill(fleet.workers[0]!, 'SIGSTOP');
    const streams = Array.from({ length: 8 }, () => stream(url));
    const running = () => streams.filter(({ state }) => state === 'running');
    await until(() => running().length <= 1, 'the other worker has served');
    expect(running()).toHaveLength(1);
    process.kill(fleet.workers[0]!, 'SIGKILL');
    await allEnded(streams);
    expect(streams.filter(isWhole)).toHaveLength(8);
  });

  it('one that hangs is killed, and another put in its place', async () => {
    const { upstream, fleet, url, statusUrl } = await start({ main: 'test/cli/impatient-primary.testkit.ts' });
    const streams = Array.from({ length: 4 }, () => stream(url));
    await until(() => streams.every(({ text }) => text.includes('begun')), 'all have begun');
    const [hangs, works] = fleet.workers;
    // It says with its metrics what it holds.
    await scrape(statusUrl);
    process.kill(hangs!, 'SIGSTOP');
    await until(() => fleet.workers.length === 3, 'another worker serves');
    expect([isAlive(hangs!), isAlive(works!)]).toEqual([false, true]);
    expect(fleet.lines.filter(({ msg }) => String(msg).startsWith('a worker hangs'))).toMatchObject([{ pid: hangs }]);
    await until(() => streams.some(({ state }) => state === 'closed'), 'its clients see it');
    upstream.letGo();
    await allEnded(streams);
    expect(streams.filter(isWhole).length).toBeGreaterThan(0);
    const metrics = await scrape(statusUrl);
    expect(metrics.get('gatehouse_worker_exits_total{reason="signal"}')).toBe(1);
    expect(metrics.get('gatehouse_worker_kills_total{reason="blocked"}')).toBe(1);
    const [death] = fleet.lines.filter(({ msg }) => String(msg).startsWith('a worker ended'));
    expect(death).toMatchObject({ pid: hangs, signal: 'SIGKILL' });
    const { requests_cut: requests, connections_cut: connections } = death!;
    expect(requests).toBe(streams.filter((one) => !isWhole(one)).length);
    expect(connections).toBe(requests);
    expect(metrics.get('gatehouse_worker_requests_cut_total')).toBe(requests);
    expect(metrics.get('gatehouse_worker_connections_cut_total')).toBe(connections);
  });

  it('one that is blocked loses the connection on its way to it to the other, and gets no more until it answers', async () => {
    const { upstream, fleet, url } = await start();
    upstream.letGo();
    const [blocked] = fleet.workers;
    process.kill(blocked!, 'SIGSTOP');
    const streams = Array.from({ length: 8 }, () => stream(url));
    await allEnded(streams);
    // It is suspect by now: each of these would wait for it otherwise.
    for (let round = 0; round < 4; round += 1) {
      const late = stream(url);
      streams.push(late);
      await until(() => late.state !== 'running', 'it is answered');
    }
    expect(streams.filter(isWhole)).toHaveLength(12);
    expect(isAlive(blocked!)).toBe(true);

    process.kill(blocked!, 'SIGCONT');
    const idOf = (pid: number): unknown =>
      fleet.lines.find((line) => line['msg'] === 'a worker serves' && line['pid'] === pid)!['worker'];
    const served = (): unknown[] =>
      fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : []));
    expect(new Set(served())).not.toContain(idOf(blocked!));
    await until(() => (streams.push(stream(url, AT_ONCE)), served().includes(idOf(blocked!))), 'it serves again');
    await allEnded(streams);
    expect(streams.filter((one) => !isWhole(one))).toEqual([]);
    // No connection was read by both.
    expect(upstream.seen).toHaveLength(streams.length);
    expect([isAlive(blocked!), fleet.workers]).toEqual([true, [blocked, expect.anything()]]);
  });

  it('one that is blocked does not hold a drain up beyond its limit, and is counted as cut', async () => {
    const { upstream, fleet, url } = await start({ server: { drain: { delay: '0s', timeout: '200ms' } } });
    upstream.letGo();
    process.kill(fleet.workers[0]!, 'SIGSTOP');
    let code: number | null | undefined;
    void fleet.exited.then((exit) => (code = exit));
    fleet.signal('SIGTERM');
    await until(() => code !== undefined, 'it has ended');
    expect(code).toBe(1);
    // The system takes a killed process away a moment after its parent has ended.
    await until(() => !fleet.workers.some(isAlive), 'no worker is left');
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('both stop: no connection is left open that neither takes, while streams go on', async () => {
    const { upstream, fleet, url } = await start({ server: { drain: { delay: '0s', timeout: '1m' } } });
    const held = stream(url);
    await until(() => held.text.includes('begun'), 'it has begun');
    const short: Stream[] = [];
    const signalled = new AbortController();
    const knock = async (): Promise<void> => {
      while (!signalled.signal.aborted) {
        const one = stream(url, AT_ONCE);
        short.push(one);
        await until(() => one.state !== 'running' || signalled.signal.aborted, 'it is answered');
      }
    };
    const knocking = Array.from({ length: 24 }, knock);
    await until(() => short.length > 200, 'requests come and go');
    fleet.signal('SIGINT');
    await until(() => short.some(({ state }) => state === 'closed'), 'no process listens');
    signalled.abort();
    await Promise.all(knocking);
    await allEnded(short);
    expect(held.state).toBe('running');
    upstream.letGo();
    expect(await fleet.exited).toBe(0);
    expect(isWhole(held)).toBe(true);
  });
});
