import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply, type ScriptedUpstream } from '../support/upstream.ts';

/** `plugins` of configs and targets: which chains a request runs. */

const API = pathToFileURL(join(import.meta.dirname, '../../src/plugin/index.ts')).href;
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lists-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** `guard` refuses a word, `stamp` and `mark` set a reply header, `fragile` may fail to start. */
const MODULE = join(folder, 'plugins.mjs');
writeFileSync(
  MODULE,
  `import { definePlugin, GatewayError } from ${JSON.stringify(API)};
const lives = (globalThis.listedPlugins ??= []);
const text = { type: 'string', description: 'A text.' };
const header = (name, level) => definePlugin({
  name, level, pure: true,
  options: { type: 'object', additionalProperties: false, properties: { text } },
  create: ({ options }) => async (ctx, next) => {
    await next();
    (ctx.attempt ?? ctx.exchange).reply.headers['x-' + name] = options.text ?? 'set';
  },
});
const guard = definePlugin({
  name: 'guard', level: 'attempt', pure: true,
  options: { type: 'object', additionalProperties: false, properties: { word: { ...text, default: 'bomb' } } },
  create({ options: { word }, host }) {
    lives.push('made ' + word);
    host.onClose(() => lives.push('closed ' + word));
    return async (ctx, next) => {
      if (ctx.attempt.body.original.includes(word)) throw new GatewayError('content_filter', 'The guard refused it.');
      await next();
    };
  },
});
const fragile = definePlugin({
  name: 'fragile', level: 'attempt', pure: true,
  options: { type: 'object', additionalProperties: false, properties: {} },
  create() { throw new Error('cannot read /etc/fragile'); },
});
export default [guard, fragile, header('stamp', 'request'), header('mark', 'attempt')];
`,
);

const lives: string[] = [];
Reflect.set(globalThis, 'listedPlugins', lives);
beforeEach(() => void lives.splice(0));

const POWER = 'gatehouse-power-key-0123456789';
const KEYS = {
  keys: [
    { id: 'test', key: `\${env:NONE:-${KEY}}`, inline_configs: true },
    { id: 'power', key: `\${env:NONE:-${POWER}}`, inline_configs: true, inline_plugins: true },
  ],
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

async function start(settings: TestSettings = {}): Promise<void> {
  const server = { plugins: [MODULE], ...(typeof settings.server === 'object' && settings.server) };
  ({ upstream, gateway } = await startPair((_, res) => json(res, openaiReply('hi')), {
    keys: KEYS,
    ...settings,
    server,
  }));
}

async function chat(config: string | object, content = 'hi', key = KEY) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': key,
      'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config),
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  });
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, headers: response.headers, error };
}

const GUARDED = ['override', 'guard', 'cache', 'transform', 'retry', 'send'];

describe('`plugins` of a config', () => {
  it('choose the request chain, the attempt chain or both, and leave the chains of other configs', async () => {
    const provider = '@openai';
    await start({
      gateway: {
        open: { provider },
        stamped: { provider, plugins: ['stamp', 'route'] },
        guarded: { provider, plugins: GUARDED },
        both: { provider, plugins: ['stamp', 'guard', 'route', 'transform', { plugin: 'mark' }, 'send'] },
      },
    });
    const seen = [];
    for (const config of ['open', 'stamped', 'guarded', 'both']) {
      const { headers } = await chat(config);
      const { status, error } = await chat(config, 'a bomb');
      seen.push([config, headers.get('x-stamp'), headers.get('x-mark'), status, error?.code]);
    }
    expect(seen).toEqual([
      ['open', null, null, 200, undefined],
      ['stamped', 'set', null, 200, undefined],
      ['guarded', null, null, 400, 'content_filter'],
      ['both', 'set', 'set', 400, 'content_filter'],
    ]);
  });

  it('apply to its targets, and those of a target in their place', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
    const condition = (then: string) => ({ query: { 'params.user': then }, then });
    const mark = (text: string) => ['override', 'transform', { plugin: 'mark', options: { text } }, 'send'];
    const target = (status: number, more: object = {}) => ({
      provider: '@openai',
      override_params: { model: `m-${status}` },
      ...more,
    });
    await start({
      gateway: {
        it: {
          strategy: {
            mode: 'conditional',
            conditions: ['own', 'group', 'deep'].map(condition),
            default: 'plain',
          },
          plugins: mark('config'),
          targets: [
            target(1, { name: 'plain' }),
            target(2, { name: 'own', plugins: mark('target') }),
            { name: 'group', plugins: mark('group'), targets: [target(3)] },
            { name: 'deep', plugins: mark('group'), targets: [target(4, { plugins: mark('inner') })] },
          ],
        },
      },
    });
    const marks = [];
    for (const user of ['none', 'own', 'group', 'deep']) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
        body: JSON.stringify({ model: 'm', user, messages: [] }),
      });
      marks.push(response.headers.get('x-mark'));
      await response.text();
    }
    expect(marks).toEqual(['config', 'target', 'group', 'inner']);
  });

  it('that are equal share their plugins, whatever file or target lists them', async () => {
    const provider = '@openai';
    await start({
      gateway: {
        a: { provider, plugins: GUARDED },
        b: { provider, plugins: ['metadata', ...GUARDED, 'route'].toSorted(byLevel) },
        c: { strategy: { mode: 'fallback' }, targets: [{ provider, plugins: GUARDED }, { provider }] },
        d: { provider, plugins: ['transform', { plugin: 'guard', options: { word: 'gun' } }, 'send'] },
      },
    });
    expect(lives).toEqual(['made bomb', 'made gun']);
  });

  it('do not answer from the cache of another attempt chain', async () => {
    const own = (text: string) => ['override', 'cache', 'transform', { plugin: 'mark', options: { text } }, 'send'];
    const cache = { mode: 'exact' };
    await start({
      gateway: {
        one: { provider: '@openai', cache, plugins: own('one') },
        two: { provider: '@openai', cache, plugins: own('two') },
        plain: { provider: '@openai', cache },
      },
    });
    for (const config of ['one', 'two', 'plain', 'one']) await chat(config);
    expect(upstream.seen).toHaveLength(3);
  });
});

const byLevel = (a: string, b: string): number => Number(a === 'send') - Number(b === 'send');

describe('`plugins` of a config that comes with a request', () => {
  const provider = '@openai';
  const inline = (plugins: readonly unknown[]) => ({ provider, plugins });
  const refusing = (word: string) => inline(['transform', { plugin: 'guard', options: { word } }, 'send']);

  it('are refused for a key without `inline_plugins`', async () => {
    await start();
    expect((await chat(inline(GUARDED))).error).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('its key has no `inline_plugins`') as string,
    });
    expect((await chat({ targets: [{ provider, plugins: GUARDED }] })).error?.code).toBe('invalid_config');
    // The other key has compiled the same text.
    expect((await chat(inline(GUARDED), 'hi', POWER)).status).toBe(200);
    expect((await chat(inline(GUARDED))).status).toBe(400);
  });

  it('choose its chains for a key with `inline_plugins`', async () => {
    await start();
    const stamped = inline(['stamp', 'route', ...GUARDED]);
    expect((await chat(stamped, 'hi', POWER)).headers.get('x-stamp')).toBe('set');
    expect((await chat(stamped, 'a bomb', POWER)).error?.code).toBe('content_filter');
    expect((await chat({ targets: [{ provider, plugins: GUARDED }] }, 'a bomb', POWER)).status).toBe(400);
    expect((await chat({ provider }, 'a bomb', POWER)).status).toBe(200);
    expect(lives.filter((line) => line === 'made bomb')).toHaveLength(1);
  });

  it.each([
    ['an unknown plugin', inline(['__proto__', 'route']), 'unknown plugin "__proto__"'],
    ['an entry plugin', inline(['auth', 'route']), 'belongs in the entry chain'],
    ['an attempt chain that cannot send', inline(['guard']), 'write `plugins: [guard, transform, send]`'],
    ['a wrong option', refusing(7 as unknown as string), '`word` must be text, not 7'],
    ['a hundred plugins and one', inline(Array.from({ length: 101 }, () => 'x')), 'lists 101 plugins'],
  ])('are refused with %s, and nothing is created', async (_, config, message) => {
    await start();
    const { status, error } = await chat(config, 'hi', POWER);
    expect([status, error?.code]).toEqual([400, 'invalid_config']);
    expect(error?.message).toContain(message);
    expect(lives).toEqual([]);
  });

  it('are refused where a plugin of the server’s attempt chain lacks what it needs', async () => {
    await start({
      server: { chains: { attempt: ['override', { plugin: 'needy' }, 'transform', 'send'] }, plugins: [MODULE, NEEDY] },
    });
    expect((await chat({ provider }, 'hi', POWER)).status).toBe(200);
    const { error } = await chat(inline(['route']), 'hi', POWER);
    expect(error).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('plugin "needy" needs "metadata"') as string,
    });
  });

  it('are refused when a plugin cannot start, without the reason, which is logged', async () => {
    await start();
    for (let time = 0; time < 2; time += 1) {
      const { status, error } = await chat(inline(['fragile', 'transform', 'send']), 'hi', POWER);
      expect([status, error]).toMatchObject([
        400,
        { code: 'invalid_config', message: 'The plugins of x-gateway-config cannot start.' },
      ]);
    }
    const logged = gateway.logs.filter(({ msg }) => msg === 'the plugins of an inline config cannot start');
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatchObject({ mistakes: ['plugin "fragile" cannot start: cannot read /etc/fragile'] });
  });

  it('keep 64 lists at most and release the plugins of the others', async () => {
    await start();
    for (let index = 0; index < 70; index += 1) await chat(refusing(`w${index}`), 'hi', POWER);
    await expect
      .poll(() => lives.filter((line) => line.startsWith('closed')))
      .toEqual(['closed w0', 'closed w1', 'closed w2', 'closed w3', 'closed w4', 'closed w5']);
    expect((await chat(refusing('w0'), 'with w0', POWER)).error?.code).toBe('content_filter');
    await gateway.close();
    // Closing compares the gateway with explain, which creates plugins of its own.
    const [made, closed] = ['made', 'closed'].map((event) => lives.filter((line) => line.startsWith(event)));
    expect(made!.length).toBeGreaterThanOrEqual(71);
    expect(closed).toHaveLength(made!.length);
  });
});

const NEEDY = join(folder, 'needy.mjs');
writeFileSync(
  NEEDY,
  `import { definePlugin } from ${JSON.stringify(API)};
export default definePlugin({
  name: 'needy', level: 'attempt', pure: true, requires: ['metadata'],
  options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => (_, next) => next(),
});
`,
);
