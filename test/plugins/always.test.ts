import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { CLIENT_APIS, send } from './client-apis.ts';
import { startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

const LEVELS = ['request', 'attempt'] as const;
const OPTIONS = `options: { type: 'object', additionalProperties: false, properties: { word: { type: 'string', default: 'none' } } }`;

/** Marks the reply, each level with a header of its own. */
const plugins: readonly OutsidePlugin[] = [
  ...LEVELS.map((level) => ({
    name: `mask-${level}`,
    level,
    more: `${OPTIONS}, pure: true`,
    body: `await next(); ctx.${level === 'attempt' ? 'attempt' : 'exchange'}.reply.headers['x-${level}'] = options.word;`,
  })),
  { name: 'other', level: 'request', body: 'await next();' },
];
const always = (level: string) => ({ plugin: `mask-${level}`, options: { word: 'server' }, always: true });
const CHAINS = {
  request: [always('request'), 'other', 'metadata', 'route'],
  attempt: ['override', always('attempt'), 'transform', 'retry', 'send'],
};
const BOTH = ['metadata', 'route', 'override', 'transform', 'send'];
const OF_TARGET = ['override', 'transform', 'send'];

const CONFIGS = {
  'its own': { plugins: BOTH },
  'a target’s': { provider: '@openai', targets: [{ plugins: OF_TARGET }] },
  'both a config’s and a target’s': { plugins: BOTH, targets: [{ plugins: OF_TARGET }] },
} as const;

const start = (gateway: Readonly<Record<string, object>> = {}) =>
  startOutsideGateway({
    plugins,
    upstream: (_, res) => json(res, openaiReply('hello')),
    chains: CHAINS,
    gateway,
    keys: { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, inline_configs: true, inline_plugins: true }] },
  });

describe('a plugin of server.yaml with `always: true`', () => {
  it.each(
    Object.entries(CONFIGS).flatMap(([list, config]) =>
      CLIENT_APIS.flatMap((api) => ['file', 'header'].map((from) => ({ list, config, api, door: api.name, from }))),
    ),
  )('runs where $list list from a $from leaves it out: $door', async ({ config, api, from }) => {
    await using started = await start({ own: config });
    const headers = { 'x-gateway-config': from === 'file' ? 'own' : JSON.stringify(config) };
    const response = await send(started.gateway.url, api, '@openai/m', { headers });
    const text = await response.text();
    expect([response.status, ...LEVELS.map((level) => response.headers.get(`x-${level}`))], text).toEqual([
      200,
      'server',
      'server',
    ]);
  });

  it('keeps its options where the list of a caller names it, and refuses others', async () => {
    await using started = await start();
    const ask = (item: unknown) =>
      started.chat({}, { 'x-gateway-config': JSON.stringify({ plugins: [item, 'route'] }) });
    expect((await ask('mask-request')).headers.get('x-request')).toBe('server');
    const refused = await ask({ plugin: 'mask-request', options: { word: 'mine' } });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('the options of')]);
  });

  it('warns in `validate` of the plugins that a list drops without it, at the list', async () => {
    await using started = await start({ own: CONFIGS['its own'], whole: { plugins: ['other', ...BOTH] } });
    expect(started.gateway.gateway.warnings.map(({ file, message }) => [file.split('/').at(-1), message])).toEqual([
      [
        'own.yaml',
        'this list leaves out "other", which the chain of server.yaml has; list it, or set `always: true` there',
      ],
    ]);
  });
});
