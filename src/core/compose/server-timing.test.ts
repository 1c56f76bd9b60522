import { describe, expect, it } from 'vitest';
import { compose } from '../http/chain/compose.ts';
import type { GatewayFile, GatewayKey } from '../../../schemas/types.generated.ts';
import { definePlugin, type Middleware } from '../kernel/index.ts';
import { Secret } from '../../plugin/index.ts';
import { toMiddleware } from '../kernel/define.ts';
import {
  createAttempt,
  createContext,
  createExchange,
  createFakeClock,
  createTry,
} from '../../plugin/testing/index.ts';
import { compileGatewayConfig } from '../settings/compile/gateway-config.ts';
import { PluginTimes, timingSources } from './server-timing.ts';

const NONE = { type: 'object', properties: {} } as const;

function placed(instance: string, repeats = false) {
  const plugin = definePlugin({
    name: instance,
    level: 'attempt',
    options: NONE,
    repeats,
    create: () => () => Promise.resolve(),
  });
  return { plugin, builtin: true, instance, options: {}, path: [], file: 'server.yaml' };
}

/** A chain of nested plugins on one clock. */
async function timed(
  clock: ReturnType<typeof createFakeClock>,
  plugins: Readonly<Record<string, Middleware>>,
  stored = true,
) {
  const times = new PluginTimes(clock, { stored });
  const { instantiate } = times.around(undefined);
  const instances = await Promise.all(
    Object.entries(plugins).map(async ([name, middleware]) => ({
      name,
      repeats: name === 'retry',
      middleware: toMiddleware(await instantiate!(placed(name, name === 'retry'), () => middleware)),
    })),
  );
  return { times, run: compose(instances, 'entry') };
}

describe('the times of plugins', () => {
  it('exclude the time of the plugins behind each', async () => {
    const clock = createFakeClock();
    const { times, run } = await timed(clock, {
      outer: async (_, next) => {
        await clock.advance(1);
        await next();
        await clock.advance(2);
      },
      inner: () => clock.advance(40),
    });
    const exchange = createExchange();
    await run(createContext(exchange));
    expect(times.header(exchange)).toBe('plugin-outer;dur=3.00, plugin-inner;dur=40.00, total;dur=43.00');
  });

  it('add up if a plugin calls next several times, and include failed runs', async () => {
    const clock = createFakeClock();
    let calls = 0;
    const { times, run } = await timed(clock, {
      retry: async (_, next) => {
        await next().catch(() => {});
        await clock.advance(5);
        await next();
      },
      send: async () => {
        await clock.advance(10);
        calls += 1;
        if (calls === 1) throw new Error('not yet');
      },
    });
    const exchange = createExchange();
    await run(createContext(exchange));
    expect(times.header(exchange)).toBe('plugin-retry;dur=5.00, plugin-send;dur=20.00, total;dur=25.00');
  });

  it('of the last attempt are listed, and those of earlier attempts are one sum', async () => {
    const clock = createFakeClock();
    const { times, run } = await timed(clock, { retry: (_, next) => next(), send: () => clock.advance(10) });
    const exchange = createExchange();
    await run(createContext(exchange, createAttempt(exchange)));
    expect(times.header(exchange)).not.toContain('earlier');
    await run(createContext(exchange, createAttempt(exchange)));
    await run(createContext(exchange, createAttempt(exchange)));
    expect(times.header(exchange)).toBe(
      'earlier-attempts;dur=20.00, plugin-retry;dur=0.00, plugin-send;dur=10.00, total;dur=30.00',
    );
  });

  it('are followed by the moments of the last try, counted from its start', () => {
    const exchange = createExchange();
    const first = createTry({ startedAt: 1 });
    const last = createTry({ startedAt: 100, sentAt: 103.5, firstByteAt: 180, firstContentAt: 181.25 });
    createAttempt(exchange, { tries: [first, last] });
    expect(new PluginTimes(createFakeClock(), { stored: true }).header(exchange)).toBe(
      'upstream-connect;dur=3.50, upstream-first-byte;dur=80.00, upstream-first-content;dur=81.25, total;dur=0.00',
    );
  });

  it('are not measured for requests whose config does not request them', async () => {
    const clock = createFakeClock();
    const { times, run } = await timed(clock, {
      auth: () => clock.advance(1),
    });
    const configs: [string, GatewayFile][] = [
      ['silent', {}],
      ['asks', { reply_headers: ['server_timing'] }],
    ];
    const reported = configs.map(async ([id, file]) => {
      const exchange = createExchange({ config: compileGatewayConfig(id, file) });
      await run(createContext(exchange));
      return times.header(exchange).includes('plugin-auth');
    });
    expect(await Promise.all(reported)).toEqual([false, true]);
  });

  it('are measured before a config is known only for requests with an inline config, if only those may request them', async () => {
    const clock = createFakeClock();
    const { times, run } = await timed(clock, { auth: () => clock.advance(1) }, false);
    const reported = [{}, { 'x-gateway-config': '{}' }].map(async (headers) => {
      const exchange = createExchange({ headers });
      await run(createContext(exchange));
      return times.header(exchange).includes('plugin-auth');
    });
    expect(await Promise.all(reported)).toEqual([false, true]);
  });

  it('have names that are tokens, whatever the plugin’s name', async () => {
    const clock = createFakeClock();
    const { times, run } = await timed(clock, { 'my plugin, é': () => Promise.resolve() });
    const exchange = createExchange();
    await run(createContext(exchange));
    expect(times.header(exchange)).toBe('plugin-my_plugin___;dur=0.00, total;dur=0.00');
  });
});

describe('plugins are timed', () => {
  const settings = (gateway: GatewayFile, key: Partial<GatewayKey> = {}, inStore: Partial<GatewayKey> = {}) => {
    const value = { entry: { ...inStore, id: 'b' }, digests: [] };
    const stored = { kind: 'keys', id: 'b', by: '', at: 0, version: 1, value } as const;
    return {
      gateway: new Map([['prod', gateway]]),
      written: { keys: { keys: [{ id: 'a', key: new Secret('gk'), ...key }] }, teams: {}, prices: { prices: [] } },
      stored: { known: true, objects: new Map([['keys/b', stored]]) },
    };
  };
  it.each([
    ['if a config requests it', settings({ reply_headers: ['server_timing'] }), { stored: true, inline: false }],
    [
      'if a key may send an inline config that requests it',
      settings({}, { inline_configs: true }),
      { stored: false, inline: true },
    ],
    ['if a key of the store may send one', settings({}, {}, { inline_configs: true }), { stored: false, inline: true }],
    ['otherwise not', settings({ reply_headers: ['config_hash'] }), { stored: false, inline: false }],
  ])('%s', (_, settings, expected) => {
    expect(timingSources(settings)).toEqual(expected);
  });
});
