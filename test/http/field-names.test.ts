import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';

/** Upstreams whose JSON readers ignore case (Go's encoding/json), and upstreams that know a field by two names. */

const answers = () => startPair((_, res) => json(res, openaiReply('hi')), SETTINGS);
const messages = [{ role: 'user', content: 'hi' }];

const SETTINGS = {
  keys: {
    keys: [
      { id: 'test', key: `\${env:NONE:-${KEY}}`, inline_configs: true },
      { id: 'narrow', key: '${env:NONE:-narrow-key-0123}', models: ['gpt-5-mini', '@openai/gpt-5-nano'] },
    ],
  },
  gateway: {
    capped: {
      provider: '@openai',
      override_params: { max_tokens: 5, options: { num_ctx: 9 }, metadata: { team: 'a' } },
      drop_params: ['user'],
      default_params: { reasoning_effort: 'low' },
    },
  },
};

interface Sent {
  readonly path?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

async function post(url: string, body: unknown, { path = '/v1/chat/completions', key = KEY, headers = {} }: Sent = {}) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: Record<string, unknown> };
  return { status: response.status, error };
}

const GEMINI = '/v1beta/models/@openai/gpt-5-mini:generateContent';

describe('keys that differ in case from a field the gateway reads', () => {
  it.each<[string, string, Record<string, unknown>, string]>([
    ['the model', '/v1/chat/completions', { MODEL: 'gpt-5' }, 'MODEL'],
    ['a limit', '/v1/chat/completions', { Max_Tokens: 9 }, 'Max_Tokens'],
    ['a long s', '/v1/chat/completions', { ſtream: true }, 'ſtream'],
    ['the Kelvin sign', '/v1/chat/completions', { 'max_to\u212Aens': 9 }, 'max_to\u212Aens'],
    ['models to fall back to', '/v1/chat/completions', { Fallbacks: ['x'] }, 'Fallbacks'],
    ['a field of `extra_body`', '/v1/chat/completions', { extra_body: { Model: 'x' } }, 'extra_body.Model'],
    [
      'a field within options',
      '/v1/chat/completions',
      { stream: true, stream_options: { Include_Usage: false } },
      'stream_options.Include_Usage',
    ],
    [
      'a field of a message',
      '/v1/chat/completions',
      { messages: [{ ...messages[0], Content: 'x' }] },
      'messages[0].Content',
    ],
    [
      'a field of a part',
      '/v1/chat/completions',
      { messages: [...messages, { role: 'user', content: [{ type: 'text', text: 'x', TEXT: 'y' }] }] },
      'messages[1].content[0].TEXT',
    ],
    ['a field of Messages', '/v1/messages', { System: 'x', max_tokens: 5 }, 'System'],
    [
      'a field of thinking',
      '/v1/messages',
      { max_tokens: 5, thinking: { type: 'disabled', Budget_Tokens: 9 } },
      'thinking.Budget_Tokens',
    ],
    [
      'a field of reasoning',
      '/v1/responses',
      { input: 'x', reasoning: { effort: 'low', Effort: 'high' } },
      'reasoning.Effort',
    ],
    [
      'a field of an item',
      '/v1/responses',
      { input: [{ role: 'user', content: 'x', ROLE: 'system' }] },
      'input[0].ROLE',
    ],
    [
      'a field of the settings of Gemini',
      GEMINI,
      { contents: [], generationConfig: { maxOutputTokens: 1, MaxOutputTokens: 9 } },
      'generationConfig.MaxOutputTokens',
    ],
    [
      'a field in the other case',
      GEMINI,
      { contents: [], generation_config: { max_output_tokens: 1, MAX_output_tokens: 9 } },
      'generation_config.MAX_output_tokens',
    ],
    ['a field of a content', GEMINI, { contents: { parts: [{ text: 'x', Text: 'y' }] } }, 'contents.parts[0].Text'],
    ['a field of token counts', '/v1/messages/count_tokens', { TOOLS: [] }, 'TOOLS'],
    ['a field of embeddings', '/v1/embeddings', { input: 'x', Dimensions: 3 }, 'Dimensions'],
    ['a field of images', '/v1/images/generations', { prompt: 'x', SIZE: '1x1' }, 'SIZE'],
    [
      "a field of Gemini's own API",
      '/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:countTokens',
      { model: undefined, contents: [], generationconfig: {} },
      'generationconfig',
    ],
  ])('are refused: %s', async (_, path, fields, param) => {
    const { upstream, gateway } = await answers();
    const { status, error } = await post(gateway.url, { model: '@openai/gpt-5-mini', messages, ...fields }, { path });
    expect(status).toBe(400);
    // Errors of Anthropic's API have neither code nor param, those of Google's the status as their code.
    if (typeof error?.['code'] === 'string') expect(error).toMatchObject({ code: 'ambiguous_parameter', param });
    expect(error?.['message']).toContain(JSON.stringify(param));
    expect(upstream.seen).toEqual([]);
  });

  it('are refused along the path that a config names, whichever target it would reach', async () => {
    const { upstream, gateway } = await answers();
    const headers = { 'x-gateway-config': 'capped' };
    const body = { model: 'gpt-5-mini', messages };
    const nested = await post(gateway.url, { ...body, options: { NUM_CTX: 1e6 } }, { headers });
    expect([nested.status, nested.error?.['param']]).toEqual([400, 'options.NUM_CTX']);
    const top = await post(gateway.url, { ...body, Options: {} }, { headers });
    expect([top.status, top.error?.['param']]).toEqual([400, 'Options']);
    // Without the config nothing names that field.
    expect((await post(gateway.url, { ...body, model: '@openai/gpt-5-mini', Options: {} })).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('are refused where a condition asks for the field', async () => {
    const { upstream, gateway } = await answers();
    const config = {
      strategy: {
        mode: 'conditional',
        // oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
        conditions: [{ query: { $or: [{ 'params.tier.name': 'gold' }] }, then: 'one' }],
        default: 'two',
      },
      targets: [
        { name: 'one', provider: '@openai' },
        { name: 'two', provider: '@openai' },
      ],
    };
    const headers = { 'x-gateway-config': JSON.stringify(config) };
    const refused = await post(gateway.url, { model: 'm', messages, tier: { Name: 'gold' } }, { headers });
    expect([refused.status, refused.error?.['param']]).toEqual([400, 'tier.Name']);
    expect(upstream.seen).toEqual([]);
  });

  it('pass where the caller names them: metadata, labels, arguments and schemas', async () => {
    const { upstream, gateway } = await answers();
    const free = { MODEL: 'x', Team: 'b', Model: 'y' };
    const body = {
      model: 'gpt-5-mini',
      messages,
      metadata: free,
      logit_bias: { A: 1 },
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: free } } }],
    };
    const { status } = await post(gateway.url, body, { headers: { 'x-gateway-config': 'capped' } });
    expect(status).toBe(200);
    expect(JSON.parse(upstream.seen[0]!.text)).toMatchObject({
      metadata: { ...free, team: 'a' },
      tools: body.tools,
    });
  });
});

describe('other names of a field', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['give way to an override', { max_completion_tokens: 9000 }, { max_tokens: 5 }],
    ['are dropped with it', { safety_identifier: 'u', user: 'u' }, {}],
    [
      'keep a default away',
      { thinking: { type: 'enabled', budget_tokens: 9 } },
      { thinking: { type: 'enabled', budget_tokens: 9 } },
    ],
  ])('%s', async (_, fields, kept) => {
    const { upstream, gateway } = await answers();
    const headers = { 'x-gateway-config': 'capped' };
    const { status } = await post(gateway.url, { model: 'gpt-5-mini', messages, ...fields }, { headers });
    expect(status).toBe(200);
    const sent = JSON.parse(upstream.seen[0]!.text) as object;
    const byDefault = 'thinking' in fields ? {} : { reasoning_effort: 'low' };
    const always = { model: 'gpt-5-mini', messages, max_tokens: 5, options: { num_ctx: 9 }, metadata: { team: 'a' } };
    expect(sent).toEqual({ ...always, ...byDefault, ...kept });
  });
});

describe('`extra_body`, which LiteLLM lays over the body', () => {
  it('does not hide a field from an override, a default or a drop', async () => {
    const { upstream, gateway } = await answers();
    const extra_body = {
      max_completion_tokens: 1e6,
      user: 'x',
      reasoning: { effort: 'high' },
      options: { num_ctx: 1e6, top: 1 },
      metadata: { Team: 'b', team: 'b' },
      other: 1,
    };
    const body = { model: 'gpt-5-mini', messages, extra_body };
    const { status } = await post(gateway.url, body, { headers: { 'x-gateway-config': 'capped' } });
    expect(status).toBe(200);
    const sent = upstream.seen[0]!.json;
    expect(sent).toMatchObject({ max_tokens: 5, options: { num_ctx: 9 } });
    expect(sent['extra_body']).toEqual({
      reasoning: { effort: 'high' },
      options: { top: 1 },
      metadata: { Team: 'b' },
      other: 1,
    });
    expect(sent).not.toHaveProperty('reasoning_effort');
  });
});

describe('a key that stands twice', () => {
  it.each([
    [
      '/v1/chat/completions',
      '{"model":"M","messages":[],"stream":true,"stream_options":{"include_usage":true,"include_usage":false}}',
      'stream_options',
    ],
    ['/v1/chat/completions', '{"model":"M","messages":[{"role":"user","content":"x","content":"y"}]}', 'messages[0]'],
    [
      '/v1/messages',
      '{"model":"M","max_tokens":9,"messages":[],"thinking":{"type":"disabled","type":"enabled"}}',
      'thinking',
    ],
    [
      '/v1/responses',
      '{"model":"M","input":"x","stream":true,"text":{"format":{"type":"text","type":"json_object"}}}',
      'text.format',
    ],
    [
      GEMINI,
      '{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingBudget":1,"thinkingBudget":9}}}',
      'generationConfig.thinkingConfig',
    ],
    [
      GEMINI.replace(':gen', ':streamGen') + '?alt=sse',
      '{"contents":[{"parts":[{"text":"x","text":"y"}]}]}',
      'contents[0].parts[0]',
    ],
  ])('in an object of %s is refused', async (path, body, place) => {
    const { upstream, gateway } = await answers();
    const { status, error } = await post(gateway.url, body.replace('"M"', '"@openai/gpt-5-mini"'), { path });
    expect(status).toBe(400);
    expect(error?.['message']).toContain(`\`${place}\` has the key `);
    expect(JSON.stringify(error)).toContain('duplicate_parameter');
    expect(upstream.seen).toEqual([]);
  });

  it('in `extra_body` is refused, whichever of the two an upstream would read', async () => {
    const { upstream, gateway } = await answers();
    const body = `{"model":"gpt-5-mini","messages":[],"extra_body":{"max_tokens":1000000,"max_tokens":null}}`;
    const { status, error } = await post(gateway.url, body, { headers: { 'x-gateway-config': 'capped' } });
    expect([status, error?.['code'], error?.['param']]).toEqual([400, 'duplicate_parameter', 'extra_body']);
    expect(upstream.seen).toEqual([]);
  });
});

describe('further models that a body names', () => {
  const NARROW = { key: 'narrow-key-0123' };
  it.each<[string, Record<string, unknown>, string]>([
    ['a list of names', { models: ['gpt-5-mini', 'o3-pro'] }, 'models[1]'],
    ['one name', { fallbacks: 'o3-pro' }, 'fallbacks'],
    ['objects with a model', { fallbacks: [{ model: 'o3-pro', max_tokens: 5 }] }, 'fallbacks[0].model'],
    ['objects with a model in capitals', { fallbacks: [{ Model: 'o3-pro' }] }, 'fallbacks[0].Model'],
    ["LiteLLM's lists by model", { fallbacks: [{ 'gpt-5-mini': ['o3-pro'] }] }, 'fallbacks[0].gpt-5-mini[0]'],
    [
      "LiteLLM's lists beside a model",
      { fallbacks: [{ 'gpt-5-mini': ['o3-pro'], model: 'gpt-5-mini' }] },
      'fallbacks[0].gpt-5-mini[0]',
    ],
    ['fallbacks for long prompts', { context_window_fallbacks: ['o3-pro'] }, 'context_window_fallbacks[0]'],
    ['a place in the catalog', { models: ['@openai/gpt-5-nano'] }, 'models[0]'],
    ['the model of `extra_body`', { extra_body: { model: 'o3-pro' } }, 'extra_body.model'],
    ['a list of `extra_body`', { extra_body: { fallbacks: ['o3-pro'] } }, 'extra_body.fallbacks[0]'],
    ['a tool', { tools: [{ type: 'x' }, { type: 'image_generation', model: 'o3-pro' }] }, 'tools[1].model'],
    ['a tool in capitals', { tools: [{ type: 'x', Model: 'o3-pro' }] }, 'tools[0].Model'],
    [
      'a tool of `extra_body`',
      { extra_body: { tools: [{ type: 'x', model: 'o3-pro' }] } },
      'extra_body.tools[0].model',
    ],
  ])('are held to the models of the key: %s', async (_, fields, param) => {
    const { upstream, gateway } = await answers();
    const { status, error } = await post(gateway.url, { model: '@openai/gpt-5-mini', messages, ...fields }, NARROW);
    expect([status, error?.['code'], error?.['param']]).toEqual([403, 'model_not_allowed', param]);
    expect(upstream.seen).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      '/v1/messages',
      { max_tokens: 5, tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'o3-pro' }] },
      'tools[0].model',
    ],
    ['/v1/responses', { input: 'x', tools: [{ type: 'image_generation', model: 'o3-pro' }] }, 'tools[0].model'],
    [
      '/v1/responses',
      { input: 'x', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'image_generation', model: 'o3-pro' }] }] },
      'tools[0].tools[0].model',
    ],
    [
      '/v1/responses',
      { input: [{ type: 'additional_tools', tools: [{ type: 'image_generation', model: 'o3-pro' }] }] },
      'input[0].tools[0].model',
    ],
  ])('are held to the models of the key in the tools of %s', async (path, fields, param) => {
    const { upstream, gateway } = await answers();
    const body = { model: '@openai/gpt-5-mini', ...(path === '/v1/messages' && { messages }), ...fields };
    const escaped = JSON.stringify(body).replaceAll('"model":"o3', '"\\u006dodel":"o3');
    for (const sent of [body, escaped]) {
      const { error } = await post(gateway.url, sent, { ...NARROW, path });
      expect(error?.['message']).toContain(`may not use the model "o3-pro" of \`${param}\``);
    }
    expect(upstream.seen).toEqual([]);
  });

  it('pass in a function whose parameters or name are called like them', async () => {
    const { upstream, gateway } = await answers();
    const parameters = { type: 'object', properties: { model: { type: 'string', const: 'o3-pro' } } };
    const tools = [{ type: 'function', function: { name: 'model', parameters } }];
    expect((await post(gateway.url, { model: '@openai/gpt-5-mini', messages, tools }, NARROW)).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('are refused where a list names one of them twice', async () => {
    const { upstream, gateway } = await answers();
    const body = `{"model":"@openai/gpt-5-mini","messages":[],"fallbacks":[{"model":"o3-pro","model":"gpt-5-mini"}]}`;
    const { status, error } = await post(gateway.url, body, NARROW);
    expect([status, error?.['code'], error?.['param']]).toEqual([400, 'duplicate_parameter', 'fallbacks[0]']);
    expect(upstream.seen).toEqual([]);
  });

  it('pass where the key may use them, and where nothing limits the key', async () => {
    const { upstream, gateway } = await answers();
    const body = {
      model: '@openai/gpt-5-mini',
      messages,
      models: ['gpt-5-nano'],
      fallbacks: [{ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'x' }], stop: ['x'] }],
    };
    expect((await post(gateway.url, body, NARROW)).status).toBe(200);
    expect((await post(gateway.url, { ...body, models: ['o3-pro'] })).status).toBe(200);
    expect(upstream.seen).toHaveLength(2);
  });

  it('are held to the models of the catalog entry', async () => {
    const setup = { ...SETTINGS, entry: { models: ['gpt-5-*'] } };
    const { upstream, gateway } = await startPair((_, res) => json(res, openaiReply('hi')), setup);
    const { status } = await post(gateway.url, { model: '@openai/gpt-5-mini', messages, models: ['o3-pro'] });
    expect(status).toBe(403);
    expect(upstream.seen).toEqual([]);
  });
});
