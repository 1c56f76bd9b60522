import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { allEnded, AT_ONCE, isWhole, scrape, startFleet, stream, total, type Running } from './workers.testkit.ts';

// A process of its own: what becomes of errors that nothing handles shows nowhere else.

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** The plugin does what the header says, and then its work. */
const PLUGIN = `import { definePlugin } from 'gatehouse/plugin';
import { rejects, throws } from './helper.mjs';
import { rejectsInPackage } from 'some-package';
const faults = {
  'rejects': () => void Promise.reject(new Error('left alone')),
  'rejects later': () => void (async () => { await null; throw new Error('left alone'); })(),
  'rejects in a helper': rejects,
  'rejects in a package': rejectsInPackage,
  'rejects with nothing': () => void Promise.reject(null),
  'rejects with a getter that throws': () => void Promise.reject(Object.defineProperty(new Error('x'), 'stack', { get() { throw new Error('hostile'); } })),
  'rejects with a proxy': () => void Promise.reject(new Proxy({}, { get() { throw new Error('hostile'); }, getPrototypeOf() { throw new Error('hostile'); } })),
  'rejects in a timer': () => void setTimeout(() => Promise.reject(new Error('left alone'))),
  'leaves a wait alone': (ctx, host) => void host.clock.sleep(60_000, ctx.exchange.cancellation),
  'throws in a timer': () => void setTimeout(() => { throw new Error('boom'); }),
  'throws in a helper': throws,
  'throws nothing in a timer': () => void setTimeout(() => { throw null; }),
  'throws on and on': () => void setInterval(() => { throw new Error('boom'); }, 1),
};
export default definePlugin({
  name: 'faulty',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: { always: { type: 'boolean' } } },
  create: ({ host, options }) => {
    if (options.always) {
      const timer = setInterval(() => Promise.reject(new Error('left alone')), 2);
      host.onClose(() => clearInterval(timer));
      Promise.reject(new Error('left in create'));
    }
    return async (ctx, next) => {
    faults[ctx.get('x-fault')]?.(ctx, host);
    await next();
    };
  },
});
`;
const HELPER = `export const rejects = () => void Promise.reject(new Error('left alone'));
export const throws = () => void setImmediate(() => { throw new Error('boom'); });
`;
const PACKAGE = `export const rejectsInPackage = () => void Promise.reject(new Error('left alone'));\n`;

async function start(workers: string, server: object = {}, options: object = {}): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-faulty-'));
  ended.push(() => rmSync(folder, { recursive: true, force: true }));
  const dependency = join(folder, 'node_modules/some-package');
  mkdirSync(dependency, { recursive: true });
  writeFileSync(join(dependency, 'package.json'), '{"name":"some-package","type":"module","exports":"./index.js"}');
  writeFileSync(join(dependency, 'index.js'), PACKAGE);
  writeFileSync(join(folder, 'faulty.mjs'), PLUGIN);
  writeFileSync(join(folder, 'helper.mjs'), HELPER);
  const chains = { request: [{ plugin: 'faulty', options }, 'metadata', 'route'] };
  return startFleet(ended, { workers, server: { plugins: [join(folder, 'faulty.mjs')], chains, ...server } });
}

const ask = (url: string, fault: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-fault': fault },
    body: JSON.stringify({ model: '@own/m', stream: true, messages: [{ role: 'user', content: AT_ONCE }] }),
  });

describe('a rejection that a plugin leaves unhandled', () => {
  it('is counted, logged under the name of the plugin and survived, wherever it comes from', async () => {
    const { fleet, url, statusUrl, upstream } = await start('none');
    const faults = [...PLUGIN.matchAll(/'((?:rejects|leaves)[^']*)':/g)].map(([, name]) => name!);
    expect(faults.length).toBe(9);
    for (const fault of faults) expect((await (await ask(url, fault)).text()).endsWith('data: [DONE]\n\n')).toBe(true);
    const reported = () => fleet.lines.filter(({ msg }) => msg === 'a plugin left a rejection unhandled');
    // A client that leaves ends the wait of the plugin, which nothing awaits.
    const leaving = new AbortController();
    const left = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-fault': 'leaves a wait alone' },
      body: JSON.stringify({ model: '@own/m', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
      signal: leaving.signal,
    }).then((response) => response.text());
    left.catch(() => {});
    await until(() => upstream.seen.length > faults.length, 'the stream has begun');
    leaving.abort();
    await left.catch(() => undefined);
    await until(() => reported().length === faults.length - 1, 'all were told');
    expect(reported().filter(({ plugin, level }) => plugin !== 'faulty' || level !== 'error')).toEqual([]);
    const count = 'gatehouse_plugin_failures_total{plugin="faulty",kind="rejection"}';
    expect((await scrape(statusUrl)).get(count)).toBe(faults.length - 1);
  });
});

describe('rejections that a plugin leaves from its `create` on', () => {
  it.each(['none', '2'])(
    'never end the process, before, while and after it begins to listen (workers: %s)',
    async (workers) => {
      const { fleet, url } = await start(workers, {}, { always: true });
      const answer = await ask(url, 'rejects');
      expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
      const of = (message: string) =>
        fleet.lines.filter(({ err, plugin }) => plugin === 'faulty' && (err as Error | undefined)?.message === message);
      await until(() => of('left in create').length > 0 && of('left alone').length > 1, 'all were told');
      expect(fleet.lines.filter(({ level }) => level === 'fatal')).toEqual([]);
    },
  );
});

describe('an error that a plugin throws in a timer', () => {
  it.each(['throws in a timer', 'throws in a helper', 'throws nothing in a timer', 'throws on and on'])(
    'names the plugin, takes no more requests, lets streams end, and ends the process with 1: %s',
    async (fault) => {
      const { fleet, url, upstream } = await start('none');
      const held = stream(url);
      await until(() => held.text.includes('begun'), 'it has begun');
      await (await ask(url, fault).catch(() => undefined))?.text().catch(() => undefined);
      const words = () => fleet.lines.filter(({ level }) => level === 'fatal');
      await until(() => words().length > 0, 'the error was logged');
      expect(words()[0]).toMatchObject({
        plugin: 'faulty',
        msg: expect.stringContaining('unhandled error; the process ends'),
      });
      const refused = async () =>
        fetch(url).then(
          () => false,
          () => true,
        );
      while (!(await refused())) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(held.state).toBe('running');
      upstream.letGo();
      await allEnded([held]);
      expect(isWhole(held)).toBe(true);
      expect(await fleet.exited).toBe(1);
      expect(words().length).toBeLessThanOrEqual(10);
    },
  );

  it('ends the process after `drain.timeout`, whatever is still under way', async () => {
    const { fleet, url } = await start('none', { drain: { delay: '0s', timeout: '300ms' } });
    const held = stream(url);
    await until(() => held.text.includes('begun'), 'it has begun');
    await (await ask(url, 'throws in a timer').catch(() => undefined))?.text().catch(() => undefined);
    expect(await fleet.exited).toBe(1);
    await allEnded([held]);
    expect(held.text).toContain('shutting_down');
  });

  it('ends one worker, which has another in its place at once and lets its streams end', async () => {
    const { fleet, url, statusUrl, upstream } = await start('1');
    const held = stream(url);
    await until(() => held.text.includes('begun'), 'it has begun');
    await (await ask(url, 'throws in a timer').catch(() => undefined))?.text().catch(() => undefined);
    await until(() => fleet.workers.length === 2, 'another worker serves');
    expect(held.state).toBe('running');
    expect((await (await ask(url, '')).text()).endsWith('data: [DONE]\n\n')).toBe(true);
    upstream.letGo();
    await allEnded([held]);
    expect(isWhole(held)).toBe(true);
    expect(fleet.lines.find(({ level }) => level === 'fatal')).toMatchObject({ plugin: 'faulty' });
    expect(total(await scrape(statusUrl), 'gatehouse_worker_exits_total{reason="code"}')).toBe(1);
    expect(total(await scrape(statusUrl), 'gatehouse_workers')).toBe(1);
  });
});
