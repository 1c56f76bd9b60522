import { describe, expect, it } from 'vitest';
import { createExplainer, questionOf, type AskParts } from './explain/explain.testkit.ts';
import { createCaller } from '../../plugin/testing/index.ts';
import { builtinPlugins } from '../../../plugins/index.ts';

const KEY = 'gatehouse-test-key-0123456789';
const settings = {
  server: { default_config: 'plain' },
  catalog: {
    providers: [
      { slug: 'sim', provider: 'simulator', base_url: 'https://sim.example' },
      { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-upstream-secret-key}' },
    ],
  },
  keys: { keys: [{ id: 'team-search', key: `\${env:NONE:-${KEY}}`, default_config: 'of-key', inline_configs: true }] },
  gateway: {
    plain: { provider: '@sim' },
    'of-key': { provider: '@sim' },
    prod: {
      strategy: { mode: 'fallback' },
      cache: { mode: 'exact', max_age: 60 },
      metadata: { labels: ['team'] },
      retry: { attempts: 2, on_status_codes: [429, 503] },
      targets: [
        {
          provider: '@sim',
          override_params: { model: 'steady', max_tokens: 10 },
          default_params: { top_p: 0.5 },
          drop_params: ['user', 'stop'],
        },
        { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' }, default_params: { max_tokens: 5 } },
      ],
    },
  },
};

const explainer = createExplainer(settings);
const withKey = { authorization: `Bearer ${KEY}` };

/** Each plugin's description, in execution order, without those that have none. */
async function words(parts: AskParts): Promise<readonly string[]> {
  const { steps } = await explainer.observe(questionOf({ ...parts, headers: { ...withKey, ...parts.headers } }));
  return steps.flatMap((step) => (step.words ? [`${step.place.plugin.name}: ${step.words.does}`] : []));
}

/** The description of one plugin; in the attempt chain, at the first target. */
async function word(plugin: string, parts: AskParts): Promise<string | undefined> {
  const prefix = `${plugin}: `;
  return (await words(parts)).find((one) => one.startsWith(prefix))?.slice(prefix.length);
}

describe('the built-in plugins', () => {
  it('describe their work on a request', async () => {
    const json = { model: 'm', seed: 1, temperature: 1, user: 'u' };
    const headers = { 'x-gateway-metadata': '{"team":"search","env":"prod"}' };
    expect(await words({ config: 'prod', json, headers })).toEqual([
      'telemetry: records the request when its reply has been sent',
      'auth: key team-search',
      'body: 93 bytes, validated against the schema of chat.completions',
      'config: prod, by x-gateway-config',
      'metadata: 2 keys: team, env; 1 as a label',
      'route: config.targets[0] (first), then config.targets[1] (fallback)',
      'override: top_p by default, model set, max_tokens set, user removed',
      'cache: looks for a cached reply of its key, at most 60 s old',
      'transform: openai-chat, not translated, 1 parameter lost',
      'retry: up to 2 more tries after 429, 503',
      'send: POST https://sim.example/v1/chat/completions',
      'override: max_tokens by default, model set',
      'cache: looks for a cached reply of its key, at most 60 s old',
      'transform: openai-chat → anthropic-messages, 2 parameters lost',
      'retry: up to 2 more tries after 429, 503',
      'send: POST https://api.anthropic.com/v1/messages',
    ]);
  });

  it('have no description when they do nothing', async () => {
    expect(await words({ config: 'plain', json: { model: 'm' } })).toEqual([
      'telemetry: records the request when its reply has been sent',
      'auth: key team-search',
      'body: 57 bytes, validated against the schema of chat.completions',
      'config: plain, by x-gateway-config',
      'route: config (only)',
      'transform: openai-chat, not translated',
      'send: POST https://sim.example/v1/chat/completions',
    ]);
  });

  const json = { model: 'm' };
  it.each<[string, string, AskParts, string | undefined]>([
    [
      'a token besides the key',
      'auth',
      { json, headers: { 'x-api-key': KEY, authorization: 'Bearer s3cret' } },
      'key team-search, with its own token for the upstream',
    ],
    ['an invalid key', 'auth', { json, headers: { authorization: 'Bearer nobody' } }, undefined],
    [
      'a large body',
      'body',
      { json: { model: 'm', messages: [], user: 'x'.repeat(70_000) } },
      '70037 bytes, validated against the schema of chat.completions',
    ],
    ['the default of the key', 'config', { json }, 'of-key, the default of key team-search'],
    ['the server’s default', 'config', { json, as: createCaller(), headers: {} }, "plain, the server's default"],
    ['an inline config', 'config', { json, config: '{"provider":"@sim"}' }, 'inline, by x-gateway-config'],
    ['an unknown config', 'config', { json, config: 'none' }, undefined],
    ['metadata without labels', 'metadata', { json, headers: { 'x-gateway-metadata': '{"team":"a"}' } }, '1 key: team'],
    [
      'a list of models',
      'models',
      { method: 'GET', path: '/v1/models' },
      'lists the models that key team-search may use; nothing is sent upstream',
    ],
    ['a path that is not served', 'errors', { path: '/v1/none' }, 'answers not_found (404) in the format openai-chat'],
    ['a refusal', 'errors', { json, config: 'none' }, 'answers unknown_config (400) in the format openai-chat'],
    ['an assumed failure', 'errors', { json }, undefined],
    [
      'a forced refresh',
      'cache',
      { json, config: 'prod', headers: { 'x-gateway-cache-force-refresh': 'true' } },
      'asks the upstream and caches the reply for 60 s',
    ],
    [
      'a bypass of the cache',
      'cache',
      { json: { model: 'm', store: true }, config: 'prod' },
      'bypassed: the request makes the upstream store or create something',
    ],
    [
      'a request that is rejected before it is encoded',
      'transform',
      { json, config: '{"provider":"@none"}' },
      undefined,
    ],
    [
      'embeddings',
      'transform',
      { path: '/v1/embeddings', json: { model: '@sim/m', input: 'x' } },
      'embeddings for simulator',
    ],
  ])('say it of %s: %s', async (_, plugin, parts, expected) => {
    expect(await word(plugin, parts)).toBe(expected);
  });

  it('never reveal a secret', async () => {
    const headers = { 'x-api-key': KEY, authorization: 'Bearer s3cret-of-the-caller' };
    const { steps } = await explainer.observe(questionOf({ config: 'prod', json, headers }));
    const said = JSON.stringify(steps.map((step) => step.words));
    expect(said).toContain('team-search');
    for (const secret of [KEY, 's3cret-of-the-caller', 'upstream-secret-key']) expect(said).not.toContain(secret);
  });

  it.each(builtinPlugins.map((plugin) => [plugin.name, plugin] as const))('define explain: %s', (_, { explain }) => {
    expect(explain).toBeTypeOf('function');
  });
});
