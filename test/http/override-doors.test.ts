import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { anthropicReply, geminiReply, json } from '../support/upstream.ts';
import { CALLER_TOKEN, startHouse, type House } from './details.testkit.ts';

/** One config for an app and a coding agent, in the words of chat completions (docs/reference/overrides.md). */
const PARAMS = {
  reasoning_effort: 'low',
  labels: { team: 'search' },
  seed: 7,
  user: 'team-1',
  parallel_tool_calls: false,
  frequency_penalty: 0.5,
  response_format: { type: 'json_object' },
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
};
const CLAUDE = { provider: '@claude', override_params: { ...PARAMS, model: 'claude-sonnet-4-5' } };
const GEMINI = { provider: '@gemini', override_params: { ...PARAMS, model: 'gemini-2.5-flash' } };
const OFF = { provider: '@gemini', override_params: { model: 'gemini-2.5-flash', thinking: { budget_tokens: 0 } } };

const LABELLED = {
  provider: '@claude',
  override_params: { model: 'claude-sonnet-4-5' },
  metadata: { labels: true },
} as const;

const COUNTED = 'model messages system tools tool_choice thinking output_config mcp_servers'.split(' ');
const OF_CLAUDE = [
  ...COUNTED,
  ...'max_tokens stop_sequences temperature top_p top_k metadata service_tier stream'.split(' '),
];
const OF_GEMINI = 'contents systemInstruction tools toolConfig safetySettings generationConfig labels'.split(' ');

const NARROW = 'narrow-key-0123456789';

let house: House;
beforeAll(async () => {
  house = await startHouse({
    keys: {
      keys: [
        { id: 'test', key: KEY, inline_configs: true },
        { id: 'narrow', key: NARROW, inline_configs: true, models: ['gpt-4o'] },
      ],
    },
    gateway: { claude: CLAUDE, gemini: GEMINI, off: OFF, labelled: LABELLED },
  });
});
afterAll(() => house.close());
beforeEach(() => {
  // As the vendors do: a field that the API does not have is a 400.
  house.plays(({ url, json: body }, res) => {
    const isCount = /count/i.test(url);
    const isClaude = url.includes('messages');
    const taken = isClaude ? (isCount ? COUNTED : OF_CLAUDE) : OF_GEMINI;
    const unknown = Object.keys(body).find((key) => !taken.includes(key));
    if (unknown !== undefined) {
      res.statusCode = 400;
      res.setHeader('content-type', 'application/json');
      res.end(
        JSON.stringify({
          error: { type: 'invalid_request_error', message: `${unknown}: Extra inputs are not permitted` },
        }),
      );
    } else if (isCount) json(res, isClaude ? { input_tokens: 3 } : { totalTokens: 3 });
    else json(res, isClaude ? anthropicReply('hi') : geminiReply('hi'));
  });
});

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const messages = [{ role: 'user', content: 'hi' }];
const DOORS: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', { messages, max_tokens: 4000 }],
  ['/v1/messages', { messages, max_tokens: 4000 }],
  ['/v1/responses', { input: 'hi', max_output_tokens: 4000 }],
  ['/v1beta/models/any:generateContent', { contents, generationConfig: { maxOutputTokens: 4000 } }],
];

const ask = (path: string, body: object, config: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(house.gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: `Bearer ${CALLER_TOKEN}`,
      'x-gateway-config': config,
      ...headers,
    },
    body: JSON.stringify({ model: 'any', ...body }),
  });

const droppedOf = (reply: Response): string => reply.headers.get('x-gateway-dropped-params') ?? '';

describe('parameters of a config in the words of chat completions', () => {
  it.each(DOORS)('mean the same to Claude at the door %s', async (path, body) => {
    const reply = await ask(path, body, 'claude');
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('hi')]);
    expect(house.seen().json).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2048 },
      metadata: { user_id: 'team-1' },
      tools: [{ name: 'f' }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    for (const name of [/labels/, /seed/, /frequency_?penalty/i]) expect(droppedOf(reply)).toMatch(name);
  });

  it.each(DOORS)('mean the same to Gemini at the door %s', async (path, body) => {
    const reply = await ask(path, body, 'gemini');
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('hi')]);
    const { labels, generationConfig, tools } = house.seen().json;
    expect([labels, tools]).toMatchObject([{ team: 'search' }, [{ functionDeclarations: [{ name: 'f' }] }]]);
    expect(generationConfig).toMatchObject({
      seed: 7,
      frequencyPenalty: 0.5,
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingBudget: 1024 },
    });
    for (const name of ['user', 'parallel_tool_calls']) expect(droppedOf(reply)).toContain(name);
  });

  it.each(DOORS)('turn the thinking of Gemini off at the door %s', async (path, body) => {
    expect((await ask(path, body, 'off')).status).toBe(200);
    const { generationConfig } = house.seen().json;
    expect(generationConfig).toMatchObject({ thinkingConfig: { thinkingBudget: 0 } });
  });

  it.each(DOORS)('come in a header too at the door %s', async (path, body) => {
    const { labels: _, ...params } = CLAUDE.override_params;
    const reply = await ask(path, body, JSON.stringify({ ...CLAUDE, override_params: params }));
    expect([reply.status, house.seen().json['thinking']]).toEqual([200, { type: 'enabled', budget_tokens: 2048 }]);
  });

  it.each(DOORS)('are a 400 under strict parameters at the door %s', async (path, body) => {
    const reply = await ask(path, body, 'claude', { 'x-gateway-strict-params': 'true' });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('seed')]);
  });

  it.each(['claude', 'gemini'])('do not keep the tokens of a request from being counted at %s', async (config) => {
    const reply = await ask('/v1/messages/count_tokens', { messages }, config);
    expect([reply.status, await reply.text()]).toEqual([200, '{"input_tokens":3}']);
  });
});

describe('a model that a config names in words of another API', () => {
  it.each(DOORS)('is one that the key may use at the door %s', async (path, body) => {
    for (const named of [{ models: ['gpt-9'] }, { fallbacks: ['gpt-9'] }]) {
      const config = { provider: '@openai', override_params: { model: 'gpt-4o', ...named } };
      const reply = await ask(path, body, JSON.stringify(config), { 'x-gateway-api-key': NARROW });
      // The Messages API has no 403 for a model.
      expect([400, 403]).toContain(reply.status);
      expect(await reply.text()).toContain('This key may not use the model');
    }
  });
});

describe('labels of metadata', () => {
  it('are reported where the target has none, and are a 400 under strict parameters', async () => {
    const metadata = { 'x-gateway-metadata': '{"team":"search"}' };
    for (const [path, body] of DOORS) {
      const reply = await ask(path, body, 'labelled', metadata);
      expect([reply.status, droppedOf(reply)]).toEqual([200, expect.stringContaining('labels.team')]);
      const strict = await ask(path, body, 'labelled', { ...metadata, 'x-gateway-strict-params': 'true' });
      expect(strict.status).toBe(400);
    }
  });
});
