import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/built.ts';
import { until, writeSettings, type TestSettings } from '../support/gateway.ts';
import {
  allEnded,
  Fleet,
  isAlive,
  isWhole,
  notReady,
  scrape,
  startFleet,
  stream,
  total,
  wentBack,
  type FleetSettings,
  type Running,
} from './workers.testkit.ts';

/** A plugin with a fault that no handler sees. */
const CRASH = `
import { definePlugin } from 'gatehouse/plugin';
export default definePlugin({
  name: 'crash',
  level: 'request',
  options: { type: 'object', additionalProperties: false },
  create: () => async ({ exchange }, next) => {
    const messages = await exchange.request.body.value('messages');
    if (messages[0].content === 'crash') process.exit(7);
    await next();
  },
});
`;

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const start = (options?: Omit<FleetSettings, 'upstream'>): Promise<Running> => startFleet(ended, options);

async function answered(url: string, requests: number): Promise<void> {
  const streams = Array.from({ length: requests }, () => stream(url));
  await allEnded(streams);
  expect(streams.filter(isWhole)).toHaveLength(requests);
}

const workersOf = (fleet: Fleet): Set<unknown> =>
  new Set(fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : [])));

const verbose = async (statusUrl: string) => {
  const response = await fetch(`${statusUrl}/readyz?verbose`);
  return { status: response.status, text: await response.text() };
};

describe('gatehouse serve --workers 2', () => {
  it('serves with both, and tells of both as of one', async () => {
    const { upstream, fleet, url, statusUrl } = await start();
    upstream.letGo();
    await answered(url, 10);
    await until(() => fleet.lines.filter(({ route }) => route).length === 10, 'all have been told');
    expect(workersOf(fleet)).toEqual(new Set([1, 2]));
    const metrics = await scrape(statusUrl);
    expect(total(metrics, 'gatehouse_requests_total')).toBe(10);
    expect(total(metrics, 'gatehouse_request_duration_seconds_count')).toBe(10);
    expect([metrics.get('gatehouse_workers'), total(metrics, 'gatehouse_build_info')]).toEqual([2, 1]);
    expect(metrics.get('gatehouse_config_reloads_total{result="success"}')).toBe(1);
    expect([...metrics.keys()].filter((name) => name.startsWith('gatehouse_config_info'))).toHaveLength(1);
    const ready = await verbose(statusUrl);
    expect(ready).toMatchObject({ status: 200, text: expect.stringMatching(/^ok\nup for \d+ s\n/) });
    const { said } = fleet;
    expect(said.match(/Gatehouse listens on/g)).toHaveLength(1);
  });

  it('tells the last numbers of a worker that hangs, and serves with the other', async () => {
    const { upstream, fleet, url, statusUrl } = await start();
    upstream.letGo();
    await answered(url, 10);
    const before = await scrape(statusUrl);
    expect(total(before, 'gatehouse_requests_total')).toBe(10);
    process.kill(fleet.workers[0]!, 'SIGSTOP');
    const during = await scrape(statusUrl);
    expect([total(during, 'gatehouse_requests_total'), wentBack(before, during)]).toEqual([10, []]);
    const { status, text } = await verbose(statusUrl);
    expect([status, text]).toEqual([200, expect.stringMatching(/worker [12]: does not answer/)]);
    process.kill(fleet.workers[0]!, 'SIGCONT');
    await answered(url, 4);
    await until(() => fleet.lines.filter(({ route }) => route).length === 14, 'all have been told');
    expect(total(await scrape(statusUrl), 'gatehouse_requests_total')).toBe(14);
  });

  it('takes a request up whichever worker had it', async () => {
    const { upstream, fleet, url } = await start();
    upstream.letGo();
    await answered(url, 6);
    await until(() => fleet.lines.filter(({ route }) => route).length === 6, 'all have been told');
    const [, adminUrl] = /\/admin\/v1\/requests\) on (\S+)/.exec(fleet.said)!;
    const base = `${adminUrl}/admin/v1/requests`;
    for (const { request_id: id, worker } of fleet.lines.filter(({ route }) => route)) {
      const record = await (await fetch(`${base}/${String(id)}`)).json();
      expect(record).toMatchObject({ request_id: id, worker, state: 'complete' });
    }
    expect((await fetch(`${base}/nobody`)).status).toBe(404);
    const { items } = (await (await fetch(`${base}?limit=5`)).json()) as { items: { worker: number }[] };
    expect(items).toHaveLength(5);
    expect(new Set(items.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  });

  it('reads settings anew in all of them, or in none', async () => {
    const { upstream, fleet, url, statusUrl } = await start({
      server: { default_config: 'prod', reload: { watch: false } },
      gateway: { prod: {} },
      files: { 'notes.yaml': 'a file that is ignored, with a warning' },
    });
    upstream.letGo();
    const seedsOf = async () => {
      const from = upstream.seen.length;
      await answered(url, 4);
      return new Set(upstream.seen.slice(from).map(({ json }) => json['seed']));
    };
    const count = (result: string) =>
      scrape(statusUrl).then((metrics) => metrics.get(`gatehouse_config_reloads_total{result="${result}"}`));
    const hangUp = async (config: string, said: string) => {
      const before = fleet.lines.length;
      fleet.write('gateway/prod.yaml', config);
      fleet.signal('SIGHUP');
      await until(() => fleet.lines.slice(before).filter(({ msg }) => String(msg).startsWith(said)).length > 0, said);
    };
    await hangUp('override_params: { seed: 1 }\n', 'settings reloaded');
    await until(() => fleet.lines.filter(({ msg }) => msg === 'settings reloaded').length === 3, 'all have');
    expect(await seedsOf()).toEqual(new Set([1]));

    await hangUp('override_params: { seed: 2 }\nretri: {}\n', 'settings refused');
    expect(await seedsOf()).toEqual(new Set([1]));
    const metrics = await scrape(statusUrl);
    expect(metrics.get('gatehouse_config_last_reload_successful')).toBe(0);
    expect(await count('failure')).toBe(1);
    expect(fleet.lines.filter(({ msg }) => String(msg).startsWith('settings refused'))).toHaveLength(1);

    // Who comes now has the settings in force, not what the files say.
    process.kill(fleet.workers[0]!, 'SIGKILL');
    await until(() => fleet.workers.length === 3, 'another worker serves');
    expect(await seedsOf()).toEqual(new Set([1]));

    await hangUp('override_params: { seed: 3 }\n', 'settings reloaded');
    await until(() => fleet.lines.filter(({ msg }) => msg === 'settings reloaded').length === 6, 'all have');
    expect(await seedsOf()).toEqual(new Set([3]));
    // Of the two reloads, and not of each process.
    expect(fleet.lines.filter(({ msg }) => msg === 'settings have warnings')).toHaveLength(2);
    const mended = await scrape(statusUrl);
    expect(mended.get('gatehouse_config_last_reload_successful')).toBe(1);
    expect([...mended.keys()].filter((name) => name.startsWith('gatehouse_config_info'))).toHaveLength(1);
  });

  it('names the exit code of a worker that crashed, and puts another in its place', async () => {
    const { upstream, fleet, url, statusUrl } = await start({
      server: { plugins: ['./crash.mjs'], chains: { request: ['metadata', 'crash', 'route'] } },
      files: { 'crash.mjs': CRASH },
    });
    upstream.letGo();
    const crashing = stream(url, 'crash');
    await until(() => crashing.state === 'closed', 'its client sees it');
    await until(() => fleet.workers.length === 3, 'another worker serves');
    expect(fleet.lines.filter(({ msg }) => String(msg).startsWith('a worker ended'))).toMatchObject([{ code: 7 }]);
    expect((await scrape(statusUrl)).get('gatehouse_worker_exits_total{reason="code"}')).toBe(1);
    await answered(url, 4);
  });

  it('serves again on the same port when all workers have died, and says meanwhile that it is not ready', async () => {
    const { upstream, fleet, url, statusUrl } = await start();
    upstream.letGo();
    for (const pid of fleet.workers) process.kill(pid, 'SIGKILL');
    expect(await notReady(statusUrl)).toContain('- no worker serves');
    await until(() => fleet.workers.length === 4, 'others serve');
    expect((await verbose(statusUrl)).status).toBe(200);
    await answered(url, 4);
    expect((await scrape(statusUrl)).get('gatehouse_worker_exits_total{reason="signal"}')).toBe(2);
  });

  it('gives what does not end in time one error event, and exits with 1', async () => {
    const { fleet, url } = await start({ server: { drain: { delay: '0s', timeout: '200ms' } } });
    const streams = Array.from({ length: 4 }, () => stream(url));
    await until(() => streams.every(({ text }) => text.includes('begun')), 'all have begun');
    // A Ctrl-C reaches the workers too: what it means is for the primary to say.
    for (const pid of fleet.workers) process.kill(pid, 'SIGINT');
    fleet.signal('SIGINT');
    await allEnded(streams);
    expect(streams.map(({ text }) => text.match(/shutting_down/g)?.length)).toEqual([1, 1, 1, 1]);
    expect(await fleet.exited).toBe(1);
    expect(fleet.said).toContain('4 requests had to be cut');
  });

  it('ends at once with a second signal, all processes of it', async () => {
    const { fleet, url, statusUrl } = await start();
    const streams = Array.from({ length: 4 }, () => stream(url));
    await until(() => streams.every(({ text }) => text.includes('begun')), 'all have begun');
    fleet.signal('SIGTERM');
    await notReady(statusUrl);
    expect(streams.every(({ state }) => state === 'running')).toBe(true);
    let code: number | null | undefined;
    void fleet.exited.then((exit) => (code = exit));
    await until(() => (fleet.signal('SIGTERM'), code !== undefined), 'it has ended');
    expect(code).toBe(1);
    await until(() => !fleet.workers.some(isAlive), 'the workers have ended');
    await allEnded(streams);
  });

  it('leaves no worker behind when the primary is killed', async () => {
    const { fleet } = await start();
    fleet.signal('SIGKILL');
    await until(() => !fleet.workers.some(isAlive), 'the workers have ended');
  });
});

/** Blocks each worker that loads it, before it can hear anything. */
const BLOCKS_WORKERS = `
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import { definePlugin } from 'gatehouse/plugin';
if (cluster.isWorker) {
  writeSync(1, 'blocked is ' + process.pid + '\\n');
  for (;;);
}
export default definePlugin({
  name: 'blocks',
  level: 'request',
  options: { type: 'object', additionalProperties: false },
  create: () => async (ctx, next) => next(),
});
`;

describe('a start with workers', () => {
  it('ends with the first signal, and leaves no worker behind, blocked ones included', async () => {
    const fleet = new Fleet({
      upstream: 'http://127.0.0.1:1',
      server: { plugins: ['./blocks.mjs'], chains: { request: ['metadata', 'blocks', 'route'] } },
      files: { 'blocks.mjs': BLOCKS_WORKERS },
    });
    ended.push(() => fleet.end());
    const blocked = (): number[] => [...fleet.said.matchAll(/^blocked is (\d+)$/gm)].map(([, pid]) => Number(pid));
    await until(() => blocked().length === 2, 'both load the plugin');
    fleet.signal('SIGTERM');
    expect(await fleet.exited).toBe(0);
    expect(fleet.said).toContain('stopped before it served');
    await until(() => !blocked().some(isAlive), 'the workers have ended');
  });

  async function code(settings: TestSettings, workers: string): Promise<{ code: number; err: string; out: string }> {
    const dir = writeSettings(settings);
    ended.push(() => rmSync(dir, { recursive: true, force: true }));
    const args = [MAIN, 'serve', '--configs', dir, '--workers', workers];
    return new Promise((resolve) => {
      execFile(process.execPath, args, (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }));
    });
  }

  it.each(['0', '65', 'many', '1.5', ''])('refuses %j of them', async (workers) => {
    expect(await code({}, workers)).toMatchObject({ code: 2, err: expect.stringContaining('--workers must be') });
  });

  it('tells mistakes of the settings once, with exit code 1', async () => {
    const { code: exit, err } = await code({ keys: 'keys: [{ id: a, kee: x }]\n' }, '2');
    expect([exit, err.match(/unknown key `kee`/g)?.length]).toEqual([1, 1]);
    expect(err).toContain('not started');
  });

  it.each(['listen', 'status'])('tells that the port of `%s` is taken, with exit code 3', async (which) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    ended.push(() => taken.close());
    const loopback = { host: '127.0.0.1', port: 0 };
    const server = {
      listen: loopback,
      status: loopback,
      [which]: { ...loopback, port: (taken.address() as AddressInfo).port },
    };
    const { code: exit, err, out } = await code({ server }, '2');
    expect([exit, err.match(/cannot listen on/g)?.length, out]).toEqual([3, 1, expect.not.stringContaining('Try it')]);
  });
});
