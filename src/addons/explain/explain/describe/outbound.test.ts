import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { OutboundExplanation, FieldSource } from '../../explanation/explanation.ts';
import type { Explainer } from '../explainer.ts';
import { createExplainer, questionOf, type AskParts } from '../explain.testkit.ts';
import type { SeenAttempt } from '../observation.ts';
import { describeOutbound } from './outbound.ts';

/** The bodies of all upstream calls of a request, byte for byte. */
function outboundBytes({ outbound }: SeenAttempt): readonly Buffer[] {
  if (!outbound) return [];
  return (outbound.batch?.bodies ?? [outbound.body]).map((body) =>
    typeof body === 'string' ? Buffer.from(body) : body,
  );
}

const GATEWAY_KEY = 'gatehouse-test-key-0123456789';
const CALLERS_TOKEN = 'ya29.callers-own-token-0123456789';
const ENV = {
  ANTHROPIC_KEY: 'sk-ant-catalog-0123456789',
  OPENAI_KEY: 'sk-openai-catalog-0123456789',
  HEADER_SECRET: 'made-up-header-secret',
  AZURE_KEY: 'azure-key-0123456789',
  USER_JSON: JSON.stringify({
    type: 'authorized_user',
    client_id: 'id.apps.googleusercontent.com',
    client_secret: 'made-up-client-secret',
    refresh_token: 'made-up-refresh-token',
  }),
};

const CATALOG = `providers:
  - slug: claude
    provider: anthropic
    api_key: \${env:ANTHROPIC_KEY}
  - slug: openai
    provider: openai
    api_key: \${env:OPENAI_KEY}
    organization: org-AbC
    headers:
      X-Region: eu
    secret_headers:
      X-Proxy-Pass: \${env:HEADER_SECRET}
  - slug: local
    provider: openai
    base_url: http://127.0.0.1:9/v1
    allow_insecure: true
  - slug: azure
    provider: azure-openai
    base_url: https://team.openai.azure.com
    api_key: \${env:AZURE_KEY}
  - slug: vertex
    provider: vertex-ai
    region: europe-west4
    project_id: my-project
  - slug: adc
    provider: vertex-ai
    region: global
    project_id: my-project
    credentials: application-default
  - slug: user
    provider: vertex-ai
    region: global
    project_id: my-project
    credentials_json: \${env:USER_JSON}
  - slug: sim
    provider: simulator
  - slug: vertex-ai
    provider: anthropic
    api_key: \${env:ANTHROPIC_KEY}
`;

const PROD = `default_params:
  temperature: 0.2
override_params:
  max_tokens: 4000
metadata:
  labels: { team: team }
forward_headers: [x-tenant, x-nobody-sends-it]
strategy: { mode: fallback, on_errors: [default] }
targets:
  - provider: "@claude"
    override_params:
      model: claude-sonnet-4-5
  - provider: "@vertex"
    override_params:
      model: gemini-2.5-flash
      thinking: { type: enabled, budget_tokens: 2048 }
  - provider: "@openai"
    override_params:
      model: gpt-4.1
    drop_params: [max_tokens]
`;

const MESSAGES = `messages_route: any
forward_headers: [x-tenant]
`;

const settings = { catalog: CATALOG, gateway: { prod: PROD, messages: MESSAGES } };
const explainer: Explainer = createExplainer(settings, { env: ENV });
afterAll(() => explainer.close());

const CALLER = { 'x-gateway-api-key': GATEWAY_KEY, authorization: `Bearer ${CALLERS_TOKEN}` };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Where' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
};

/** A chat request with many features: tools, an image, a response schema, thinking. */
const BIG_CHAT = {
  model: '@claude/claude-opus-4-1',
  stream: true,
  n: 1,
  stop: ['END', 'STOP'],
  seed: 7,
  user: 'u-17',
  max_tokens: 300,
  parallel_tool_calls: false,
  reasoning_effort: 'high',
  response_format: { type: 'json_schema', json_schema: { name: 'forecast', strict: true, schema: SCHEMA } },
  tools: [
    { type: 'function', function: { name: 'weather', description: 'The weather', parameters: SCHEMA } },
    { type: 'function', function: { name: 'news', parameters: { type: 'object', properties: {} } } },
  ],
  tool_choice: 'auto',
  messages: [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn","days":2}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
    { role: 'user', content: 'And tomorrow?' },
  ],
};

const BIG_MESSAGES = {
  model: '@adc/anthropic.claude-sonnet-4-5@20250929',
  max_tokens: 4096,
  stream: true,
  temperature: 1,
  stop_sequences: ['END'],
  thinking: { type: 'enabled', budget_tokens: 2048 },
  metadata: { user_id: 'u-17' },
  system: [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'weather', description: 'The weather', input_schema: SCHEMA }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bonn', days: 2 } }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain' },
        { type: 'text', text: 'And now?' },
      ],
    },
  ],
};

const chat = (json: object, parts: AskParts = {}): AskParts => ({
  json,
  ...parts,
  headers: { ...CALLER, ...parts.headers },
});
const messages = (json: object, parts: AskParts = {}): AskParts => chat(json, { path: '/v1/messages', ...parts });

async function outbounds(parts: AskParts): Promise<readonly OutboundExplanation[]> {
  const { targets, answer } = await explainer.explain(questionOf(parts));
  expect(answer).toBeUndefined();
  return targets.map(({ outbound }) => outbound!);
}

const shortly = (source: FieldSource): string => {
  if (source.kind === 'client') return source.path;
  if (source.kind === 'header') return `header ${source.name}`;
  if (source.kind === 'plugin') return `plugin ${source.plugin}`;
  if (source.kind === 'gateway') return `(${source.what})`;
  const { at, setting, path } = source;
  return `${path === undefined ? '' : `${path} = `}${setting} ${at.file}:${at.line}:${at.column}`;
};
const line = (what: string, sources: readonly FieldSource[]): string => `${what} ← ${sources.map(shortly).join(' + ')}`;

function page({ method, url, urlSources, headers, stream, calls, diff }: OutboundExplanation): string {
  const said = headers.map(({ name, value, source, also = [], allowedBy }) =>
    line(`${name}: ${value}`, [source, ...also, ...(allowedBy ? [allowedBy] : [])]),
  );
  const values = diff.map(({ path, received, sent, source }) => {
    const text = [path, ...(received === undefined ? [] : ['-', received]), ...(sent === undefined ? [] : ['+', sent])];
    return source ? line(text.join(' '), [source]) : text.join(' ');
  });
  const title = `${method} ${url}${stream ? ' (stream)' : ''}${calls > 1 ? ` (${calls} calls)` : ''}`;
  return [line(title, urlSources), '', ...said, '', ...values, ''].join('\n');
}

/** By path, `what the client sent → what is sent`. */
const diffOf = ({ diff }: OutboundExplanation): Record<string, string> =>
  Object.fromEntries(diff.map(({ path, received = '', sent = '' }) => [path, `${received} → ${sent}`]));

describe('the outbound request', () => {
  it.each<[string, AskParts]>([
    [
      'a chat through a fallback',
      chat(BIG_CHAT, { config: 'prod', headers: { 'x-tenant': 'acme', 'x-gateway-metadata': '{"team":"search"}' } }),
    ],
    [
      'a chat at Claude on Vertex AI',
      chat({ ...BIG_CHAT, max_tokens: 9000, model: '@vertex/anthropic.claude-opus-4-1@20250805' }),
    ],
    [
      'messages at Claude on Vertex AI',
      messages(BIG_MESSAGES, { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } }),
    ],
    ['messages at Gemini', messages({ ...BIG_MESSAGES, model: '@vertex/gemini-2.5-pro' }, { config: 'messages' })],
    [
      'messages at OpenAI',
      messages({ ...BIG_MESSAGES, model: '@openai/gpt-5.1' }, { config: 'messages', headers: { 'x-tenant': 'acme' } }),
    ],
    [
      'extensions at OpenAI',
      chat({
        model: '@openai/gpt-5',
        thinking: { type: 'enabled', budget_tokens: 2000 },
        top_k: 40,
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
          { role: 'assistant', content: 'Hello', content_blocks: [{ type: 'thinking', thinking: 'Hm' }] },
          { role: 'user', content: 'And?' },
        ],
      }),
    ],
  ])('is described with all its sources: %s', async (name, parts) => {
    const pages = (await outbounds(parts)).map(page).join('\n');
    await expect(pages).toMatchFileSnapshot(
      join(import.meta.dirname, 'goldens', `${name.replaceAll(' ', '-').toLowerCase()}.txt`),
    );
  });
});

const bare = (path: string, json: object, headers: Record<string, string> = {}): AskParts =>
  chat({ messages: undefined, ...json }, { path, headers });

describe('the diff of the bodies, by operation', () => {
  it.each<[string, AskParts, Record<string, string>]>([
    [
      'embeddings, one call for each text',
      bare('/v1/embeddings', { model: '@adc/gemini-embedding-001', input: ['one', 'two'], dimensions: 256 }),
      {
        input: '["one","two"] → ',
        instances: ' → [{"content":"one"}]',
        dimensions: '256 → ',
        'parameters.outputDimensionality': ' → 256',
      },
    ],
    [
      'unchanged embeddings',
      bare('/v1/embeddings', { model: '@openai/text-embedding-3-small', input: ['one', 'two'], user: 'u' }),
      { model: '"@openai/text-embedding-3-small" → "text-embedding-3-small"' },
    ],
    [
      'images at Imagen',
      bare('/v1/images/generations', {
        model: '@adc/imagen-4.0-generate-001',
        prompt: 'A cat',
        n: 2,
        size: '1024x1024',
      }),
      { n: '2 → ', 'parameters.sampleCount': ' → 2', 'parameters.aspectRatio': ' → "1:1"' },
    ],
    [
      'a count of tokens at Gemini',
      bare('/v1/messages/count_tokens', { model: '@adc/gemini-2.5-pro', messages: [{ role: 'user', content: 'Hi' }] }),
      {
        messages: '[{"role":"user","content":"Hi"}] → ',
        contents: ' → [{"role":"user","parts":[{"text":"Hi"}]}]',
      },
    ],
    [
      "a count at Vertex AI's own path",
      bare(
        '/v1/projects/other-project/locations/us-central1/publishers/google/models/gemini-2.5-pro:countTokens',
        { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
        { 'x-gateway-provider': '@adc' },
      ),
      {},
    ],
  ])('tells %s', async (_, parts, expected) => {
    const [outbound] = await outbounds(parts);
    expect(diffOf(outbound!)).toMatchObject(expected);
    expect(outbound!.diff.length === 0).toBe(Object.keys(expected).length === 0);
  });

  it('has the model alone in a body that is passed through', async () => {
    const [outbound] = await outbounds(chat({ ...BIG_CHAT, model: '@local/some-model', stream: false }));
    expect(diffOf(outbound!)).toEqual({ model: '"@local/some-model" → "some-model"' });
  });

  it('counts the calls of a batch', async () => {
    const input = Array.from({ length: 3 }, (_, index) => `text ${index}`);
    const parts = bare('/v1/embeddings', { model: '@adc/gemini-embedding-001', input });
    const observation = await explainer.observe(questionOf(parts));
    const [seen] = observation.attempts;
    const reported = describeOutbound(observation, seen!);
    const bodies = outboundBytes(seen!);
    expect(reported).toMatchObject({ calls: bodies.length, bytes: bodies[0]!.length });
    expect(bodies.map((body) => JSON.parse(body.toString()).instances)).toEqual(input.map((content) => [{ content }]));
  });
});

describe('addresses', () => {
  it.each<[string, AskParts, string, string]>([
    ['of the simulator', chat({ model: '@sim/echo' }), 'http', '(address of simulator)'],
    ['of a local server', chat({ model: '@local/m' }), 'http://127.0.0.1:9/v1/chat/completions', 'base_url'],
    ['of an Azure resource', chat({ model: '@azure/gpt-4.1' }), 'https://team.openai.azure.com/', 'base_url'],
    [
      'of a project and a region',
      chat({ model: '@adc/gemini-2.5-pro' }),
      'https://aiplatform.googleapis.com/',
      'region project_id model',
    ],
    [
      'that a request names',
      chat(
        { model: 'gemini-2.5-pro' },
        {
          headers: {
            'x-gateway-provider': 'vertex-ai',
            'x-gateway-vertex-project-id': 'callers-project',
            'x-gateway-vertex-region': 'us-east5',
          },
        },
      ),
      'https://us-east5-aiplatform.googleapis.com/v1/projects/callers-project/',
      'x-gateway-vertex-project-id x-gateway-vertex-region model',
    ],
  ])('say where they come from: one %s', async (_, parts, start, sources) => {
    const [outbound] = await outbounds(parts);
    expect(outbound!.url.slice(0, start.length)).toBe(start);
    const names = outbound!.urlSources.map((source) =>
      source.kind === 'settings'
        ? source.setting.split('.').at(-1)
        : source.kind === 'header'
          ? source.name
          : shortly(source),
    );
    expect(names.join(' ')).toBe(sources);
  });
});

describe('credentials', () => {
  const all = [GATEWAY_KEY, CALLERS_TOKEN, ...Object.values(ENV)];

  it.each([
    '@claude/claude-sonnet-4-5',
    '@openai/gpt-5',
    '@azure/gpt-5',
    '@vertex/gemini-2.5-pro',
    '@adc/gemini-2.5-pro',
  ])('are nowhere in the explanation of %s, even if the caller wrote them into the body', async (model) => {
    const content = `My keys are ${all.join(' and ')}, "Bearer ${CALLERS_TOKEN}"`;
    const [outbound] = await outbounds(
      chat({ model, max_tokens: 100, user: CALLERS_TOKEN, messages: [{ role: 'user', content }] }),
    );
    const reported = JSON.stringify(outbound);
    const ofThisRequest = [GATEWAY_KEY, CALLERS_TOKEN, ...ofSlug(model)];
    expect(ofThisRequest.filter((secret) => reported.includes(secret))).toEqual([]);
    expect(reported).toContain('[secret]');
  });

  const ofSlug = (model: string): readonly string[] => {
    if (model.startsWith('@claude')) return [ENV.ANTHROPIC_KEY];
    if (model.startsWith('@openai')) return [ENV.OPENAI_KEY, ENV.HEADER_SECRET];
    return model.startsWith('@azure') ? [ENV.AZURE_KEY] : [];
  };

  it('that explain does not fetch are shown masked', async () => {
    const [outbound] = await outbounds({ json: { model: '@adc/gemini-2.5-pro' } });
    expect(outbound!.headers.at(-1)).toMatchObject({
      name: 'authorization',
      value: 'Bearer [secret]',
      source: { kind: 'settings', setting: 'providers.5.credentials' },
    });
  });

  it('do not mask the fake token as an ordinary word', async () => {
    const [outbound] = await outbounds(
      chat({ model: '@user/gemini-2.5-pro', messages: [{ role: 'user', content: 'What is an access-token?' }] }),
    );
    expect(outbound!.body).toMatchObject({ contents: [{ parts: [{ text: 'What is an access-token?' }] }] });
    expect(outbound!.headers.at(-1)).toMatchObject({ name: 'authorization', value: 'Bearer [secret]' });
  });
});

describe('bodies', () => {
  it('keep the digits of a number beyond a double', async () => {
    const question = questionOf(chat({}));
    const body = Buffer.from(
      '{"model":"@local/m","seed":12345678901234567891,"messages":[{"role":"user","content":"Hi"}]}',
    );
    const { targets } = await explainer.explain({ ...question, body });
    expect(JSON.stringify(targets[0]?.outbound?.body)).toContain('"seed":12345678901234567891');
    expect(targets[0]?.outbound?.diff.map(({ path }) => path)).toEqual(['model']);
  });

  it('of megabytes have a diff with cut values', async () => {
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${PIXEL.slice(0, -4)}${'AAAA'.repeat(400_000)}` },
    };
    const text = { type: 'text', text: 'word '.repeat(100_000) };
    const [outbound] = await outbounds(
      chat({
        model: '@claude/claude-sonnet-4-5',
        max_tokens: 100,
        messages: [{ role: 'user', content: [text, image] }],
      }),
    );
    const { diff } = outbound!;
    expect(diff.map(({ path }) => path)).toEqual(expect.arrayContaining(['model', 'messages.0.content.1.source.data']));
    expect(JSON.stringify(diff).length).toBeLessThan(2_000);
    expect(diff.find(({ path }) => path === 'messages.0.content.1.source.data')?.sent).toMatch(
      /^"iVBOR.*… \(1,600,\d+ characters\)$/,
    );
  });

  it('are not changed by explaining', async () => {
    const observation = await explainer.observe(questionOf(chat(BIG_CHAT, { config: 'prod' })));
    for (const seen of observation.attempts) {
      const before = [Buffer.from(seen.body.encode()), ...outboundBytes(seen).map((body) => Buffer.from(body))];
      describeOutbound(observation, seen);
      expect([seen.body.encode(), ...outboundBytes(seen)]).toEqual(before);
    }
  });

  it('of long conversations have one difference for their messages', async () => {
    const turns = Array.from({ length: 200 }, (_, index) => ({
      role: index % 2 ? 'assistant' : 'user',
      content: `Turn ${index}`,
    }));
    const [outbound] = await outbounds(chat({ model: '@claude/claude-sonnet-4-5', max_tokens: 100, messages: turns }));
    expect(diffOf(outbound!)).toEqual({
      model: '"@claude/claude-sonnet-4-5" → "claude-sonnet-4-5"',
      messages: '[…] (200 items) → […] (200 items)',
    });
  });

  it('with fetched media have them in the place of their URL', async () => {
    const config = {
      provider: '@adc',
      override_params: { model: 'anthropic.claude-sonnet-4-5@20250929' },
      remote_media: { hosts: ['images.example.com'] },
    };
    const fetching = createExplainer({ ...settings, gateway: { fetching: config } }, { env: ENV });
    const url = 'https://images.example.com/cat.png';
    const json = {
      model: 'any',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    };
    const { targets, answer } = await fetching.explain(questionOf(chat(json, { config: 'fetching' })));
    expect(answer).toBeUndefined();
    expect(diffOf(targets[0]!.outbound!)).toMatchObject({
      'messages.0.content.0.image_url': '{"url":"https://images.example.com/cat.png"} → ',
      'messages.0.content.0.source.data': expect.stringMatching(/^ → "iVBOR/) as string,
    });
    await fetching.close();
  });
});

describe('headers', () => {
  it('of a list have all their sources', async () => {
    const parts = chat(
      { model: '@claude/claude-sonnet-4-5', max_tokens: 100, anthropic_beta: ['from-the-body'] },
      { headers: { 'anthropic-beta': 'from-the-header' } },
    );
    const [outbound] = await outbounds(parts);
    const reported = outbound!.headers.find(({ name }) => name === 'anthropic-beta');
    expect(reported?.value.split(',').toSorted()).toEqual(['from-the-body', 'from-the-header']);
    expect([reported!.source, ...(reported!.also ?? [])].map(shortly).toSorted()).toEqual([
      'anthropic_beta.0',
      'header anthropic-beta',
    ]);
  });
});
