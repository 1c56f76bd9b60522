import { describe, expect, it } from 'vitest';
import { createExplainer, questionOf, type AskParts } from '../src/dry-run/explain/explain.testkit.ts';
import { createCaller } from '../src/plugin/testing/index.ts';
import { builtinPlugins } from './index.ts';

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

/** What each plugin says, in the order they run; those that say nothing are left out. */
async function words(parts: AskParts): Promise<readonly string[]> {
  const { steps } = await explainer.observe(questionOf({ ...parts, headers: { ...withKey, ...parts.headers } }));
  return steps.flatMap((step) => (step.words ? [`${step.place.plugin.name}: ${step.words.does}`] : []));
}

/** The word of one plugin; of the attempt chain at the first target. */
async function word(plugin: string, parts: AskParts): Promise<string | undefined> {
  const prefix = `${plugin}: `;
  return (await words(parts)).find((one) => one.startsWith(prefix))?.slice(prefix.length);
}

describe('the built-in plugins', () => {
  it('say what they do for a request', async () => {
    const json = { model: 'm', seed: 1, temperature: 1, user: 'u' };
    const headers = { 'x-gateway-metadata': '{"team":"search","env":"prod"}' };
    expect(await words({ config: 'prod', json, headers })).toEqual([
      'telemetry: records the request when its reply has left',
      'auth: key team-search',
      'body: 93 bytes, checked against chat.completions',
      'config: prod, by x-gateway-config',
      'metadata: 2 keys: team, env; 1 as a label',
      'route: config.targets[0] (first), then config.targets[1] (fallback)',
      'override: top_p by default, model set, max_tokens set, user removed',
      'cache: asks for a reply of its key, up to 60 s old',
      'transform: openai-chat, not translated',
      'retry: up to 2 more tries after 429, 503',
      'send: POST https://sim.example/v1/chat/completions',
      'override: max_tokens by default, model set',
      'cache: asks for a reply of its key, up to 60 s old',
      'transform: openai-chat → anthropic-messages, 1 parameter lost',
      'retry: up to 2 more tries after 429, 503',
      'send: POST https://api.anthropic.com/v1/messages',
    ]);
  });

  it('say nothing where they do nothing', async () => {
    expect(await words({ config: 'plain', json: { model: 'm' } })).toEqual([
      'telemetry: records the request when its reply has left',
      'auth: key team-search',
      'body: 57 bytes, checked against chat.completions',
      'config: plain, by x-gateway-config',
      'route: config (only)',
      'transform: openai-chat, not translated',
      'send: POST https://sim.example/v1/chat/completions',
    ]);
  });

  const json = { model: 'm' };
  it.each<[string, string, AskParts, string | undefined]>([
    [
      'a token beside the key',
      'auth',
      { json, headers: { 'x-api-key': KEY, authorization: 'Bearer s3cret' } },
      'key team-search, with a token of its own for the upstream',
    ],
    ['a key that is none', 'auth', { json, headers: { authorization: 'Bearer nobody' } }, undefined],
    [
      'a large body',
      'body',
      { json: { model: 'm', user: 'x'.repeat(70_000) } },
      '70067 bytes, scanned: what reads it whole checks it',
    ],
    ['the default of the key', 'config', { json }, 'of-key, the default of key team-search'],
    ['the server’s default', 'config', { json, as: createCaller(), headers: {} }, "plain, the server's default"],
    ['a config that came along', 'config', { json, config: '{"provider":"@sim"}' }, 'inline, by x-gateway-config'],
    ['a config that is not there', 'config', { json, config: 'none' }, undefined],
    ['metadata without labels', 'metadata', { json, headers: { 'x-gateway-metadata': '{"team":"a"}' } }, '1 key: team'],
    [
      'a list of models',
      'models',
      { method: 'GET', path: '/v1/models' },
      'answers what key team-search may use; no upstream is asked',
    ],
    ['a path that is not served', 'errors', { path: '/v1/none' }, 'answers not_found (404) as openai-chat says it'],
    ['a refusal', 'errors', { json, config: 'none' }, 'answers unknown_config (400) as openai-chat says it'],
    ['a failure that is only supposed', 'errors', { json }, undefined],
    [
      'a new answer that is wanted',
      'cache',
      { json, config: 'prod', headers: { 'x-gateway-cache-force-refresh': 'true' } },
      'asks upstream, and keeps the answer for 60 s',
    ],
    [
      'what no cache answers',
      'cache',
      { json: { model: 'm', store: true }, config: 'prod' },
      'left aside: the request asks for more than an answer',
    ],
    ['what is refused before it is written', 'transform', { json, config: '{"provider":"@none"}' }, undefined],
    [
      'embeddings',
      'transform',
      { path: '/v1/embeddings', json: { model: '@sim/m', input: 'x' } },
      'embeddings for simulator',
    ],
  ])('say it of %s: %s', async (_, plugin, parts, expected) => {
    expect(await word(plugin, parts)).toBe(expected);
  });

  it('keep every secret to themselves', async () => {
    const headers = { 'x-api-key': KEY, authorization: 'Bearer s3cret-of-the-caller' };
    const { steps } = await explainer.observe(questionOf({ config: 'prod', json, headers }));
    const said = JSON.stringify(steps.map((step) => step.words));
    expect(said).toContain('team-search');
    for (const secret of [KEY, 's3cret-of-the-caller', 'upstream-secret-key']) expect(said).not.toContain(secret);
  });

  it.each(builtinPlugins.map((plugin) => [plugin.name, plugin] as const))('have words: %s', (_, { explain }) => {
    expect(explain).toBeTypeOf('function');
  });
});
