import { describe, expect, it } from 'vitest';
import { SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { CLIENT_APIS, send } from './client-apis.ts';
import { startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

const OPTIONS = `options: { type: 'object', additionalProperties: false, properties: { word: { type: 'string', default: 'none' } } }`;

/** Each says in a header of the reply which of them ran, the outermost last. */
const marking = (name: string, level: 'request' | 'attempt'): OutsidePlugin => ({
  name,
  level,
  more: `${OPTIONS}, pure: true`,
  body: `await next();
    const { headers } = ctx.${level === 'attempt' ? 'attempt' : 'exchange'}.reply;
    headers['x-ran'] = [headers['x-ran'], '${name}:' + options.word].filter(Boolean).join(' ');`,
});
const plugins = [marking('outer', 'request'), marking('inner', 'request'), marking('try', 'attempt')];

const start = (server: Readonly<Record<string, object>>, gateway: Readonly<Record<string, object>> = {}) =>
  startOutsideGateway({
    plugins,
    upstream: (_, res) => json(res, openaiReply('hello')),
    chains: server,
    gateway,
    keys: { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, inline_configs: true, inline_plugins: true }] },
  });

/** The messages of the settings' errors. */
const mistakes = async (...settings: Parameters<typeof start>): Promise<readonly string[]> => {
  const refused: unknown = await start(...settings).catch((error: unknown) => error);
  if (!(refused instanceof SettingsRefused)) throw new Error('the settings are valid');
  return refused.diagnostics.map(({ message }) => message);
};

const SERVER = { request: { add: [{ plugin: 'outer', before: 'metadata', options: { word: 'server' } }] } };
const CONFIG = {
  plugins: {
    add: [
      { plugin: 'inner', before: 'route' },
      { plugin: 'try', after: 'override' },
    ],
    options: { outer: { word: 'config' } },
  },
};
const TARGET = { plugins: { options: { try: { word: 'target' } } } };

describe('changes of chains', () => {
  it.each(CLIENT_APIS.flatMap((api) => ['file', 'header'].map((from) => ({ api, door: api.name, from }))))(
    'of server.yaml, a config and a target add up where the config comes from a $from: $door',
    async ({ api, from }) => {
      const config = { ...CONFIG, provider: '@openai', targets: [TARGET] };
      await using started = await start(SERVER, { own: config });
      const headers = { 'x-gateway-config': from === 'file' ? 'own' : JSON.stringify(config) };
      const response = await send(started.gateway.url, api, '@openai/m', { headers });
      const text = await response.text();
      expect([response.status, response.headers.get('x-ran')], text).toEqual([
        200,
        'try:target inner:none outer:config',
      ]);
    },
  );

  it('leave other configs as they are, and a list replaces what they made', async () => {
    await using started = await start(SERVER, {
      own: CONFIG,
      plain: { name: 'plain' },
      listed: { plugins: ['inner', 'route'] },
    });
    const ran = async (config: string) => (await started.chat({}, { 'x-gateway-config': config })).headers.get('x-ran');
    expect([await ran('own'), await ran('plain'), await ran('listed')]).toEqual([
      'try:none inner:none outer:config',
      'outer:server',
      'inner:none',
    ]);
  });

  it('of a caller neither remove an entry with `always: true` nor set options of it', async () => {
    const always = { plugin: 'outer', before: 'metadata', options: { word: 'server' }, always: true };
    await using started = await start({ request: { add: [always] } });
    const ask = async (changes: object) => {
      const reply = await started.chat({}, { 'x-gateway-config': JSON.stringify({ plugins: changes }) });
      return [reply.status, await reply.text(), reply.headers.get('x-ran')];
    };
    expect(await ask({ remove: ['outer'] })).toEqual([400, expect.stringContaining('no list removes it'), null]);
    expect(await ask({ options: { outer: { word: 'mine' } } })).toEqual([
      400,
      expect.stringContaining('the options of'),
      null,
    ]);
    expect(await ask({ add: [{ plugin: 'inner', after: 'outer' }] })).toEqual([
      200,
      expect.any(String),
      'inner:none outer:server',
    ]);
  });

  it('of server.yaml that name no entry are errors at their line', async () => {
    expect(await mistakes({ request: { remove: ['metadat'] } })).toEqual([
      'the request chain here: no plugin has the name "metadat"',
    ]);
    expect(await mistakes({ entry: { add: [{ plugin: 'outer', after: 'config' }] } })).toEqual([
      'no plugin after "config" runs',
    ]);
  });

  it('that have no place, or two, are errors of the settings', async () => {
    expect(await mistakes({ request: { add: [{ plugin: 'outer' }] } })).toEqual([expect.stringContaining('`before`')]);
    const twice = { plugin: 'outer', before: 'route', after: 'metadata' };
    expect(await mistakes({ request: { add: [twice] } })).toEqual([expect.stringContaining('`before`')]);
  });

  it('count as the list of a setting that needs a plugin', async () => {
    const cache = { mode: 'exact', max_age: '1m' };
    expect(await mistakes({}, { own: { cache, plugins: { remove: ['cache'] } } })).toEqual([
      '`cache` needs the plugin "cache", which `plugins` of this config does not include',
    ]);
    await using kept = await start({ attempt: { remove: ['retry'] } }, { own: { cache } });
    expect((await kept.chat({}, { 'x-gateway-config': 'own' })).status).toBe(200);
  });
});
