import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Bodies for Claude that a rewrite or a setting changes, from every API. */

const GEO = { override_params: { inference_geo: 'us' } };

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ url }, res) =>
    json(
      res,
      /generateContent/.test(url) ? geminiReply('hi') : /chat/.test(url) ? openaiReply('hi') : anthropicReply('hi'),
    ),
  );
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        { ...entriesFor(upstream.url)[2], slug: 'allowed', structured_outputs: true },
      ],
    },
    gateway: { geo: GEO },
    keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'number' } },
  required: ['answer'],
  additionalProperties: false,
};
const messages = [{ role: 'user', content: 'x' }];
const contents = [{ role: 'user', parts: [{ text: 'x' }] }];

/** The fields of the sent body that the tests read. */
interface SentBody {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly system?: unknown;
  readonly inference_geo?: string;
  readonly output_config?: { readonly format?: { readonly type?: string } };
  readonly tools?: readonly { readonly name?: string; readonly strict?: boolean }[];
}

async function ask(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const before = upstream.seen.length;
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.of-the-caller',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as { error?: { param?: string; details?: { param?: string } } };
  return {
    status: response.status,
    reply,
    lost: response.headers.get('x-gateway-dropped-params') ?? '',
    sent: upstream.seen.slice(before).at(-1)?.json as SentBody | undefined,
  };
}

const fn = (strict: boolean) => ({ name: 'f', strict, parameters: SCHEMA });
/** Two requests for each client API: for an answer with a schema, and with a strict tool. */
const DOORS: Readonly<Record<string, (model: string) => readonly [string, object, object | undefined]>> = {
  messages: (model) => [
    '/v1/messages',
    { model, max_tokens: 2000, messages, output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    { model, max_tokens: 2000, messages, tools: [{ name: 'f', input_schema: SCHEMA, strict: true }] },
  ],
  chat: (model) => [
    '/v1/chat/completions',
    {
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA, strict: true } },
    },
    { model, messages, tools: [{ type: 'function', function: fn(true) }] },
  ],
  responses: (model) => [
    '/v1/responses',
    { model, input: 'x', text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA, strict: true } } },
    { model, input: 'x', tools: [{ type: 'function', ...fn(true) }] },
  ],
  gemini: (model) => [
    `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    { contents, generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } },
    // The Gemini API has no strict tools.
    undefined,
  ],
};

describe.each(Object.keys(DOORS))('structured outputs of Claude on Vertex AI, from the door %s,', (door) => {
  it.each([
    ['gemini', false],
    ['allowed', true],
  ])('by the entry %s are sent: %s', async (slug, isSent) => {
    const [path, schema, tool] = DOORS[door]!(`@${slug}/anthropic.claude-opus-4-7`);
    const answer = await ask(path, schema);
    expect(answer.status).toBe(200);
    expect(answer.sent?.output_config?.format?.type).toBe(isSent ? 'json_schema' : undefined);
    expect(answer.sent?.tools?.[0]?.name).toBe(isSent ? undefined : 'json');
    if (!tool) return;
    const called = await ask(path, tool);
    expect([called.status, called.sent?.tools?.[0]?.strict]).toEqual([200, isSent ? true : undefined]);
    expect(called.lost.includes('strict')).toBe(!isSent);
  });
});

describe('a Messages body for Claude', () => {
  it.each(['@claude/claude-sonnet-4-5', '@gemini/anthropic.claude-sonnet-4-5'])(
    'with temperature and top_p is written anew for %s, and top_p is reported',
    async (model) => {
      const { status, sent, lost } = await ask('/v1/messages', {
        model,
        max_tokens: 100,
        temperature: 0.5,
        top_p: 0.9,
        messages,
      });
      expect([status, sent?.temperature, sent?.top_p, lost]).toEqual([200, 0.5, undefined, 'top_p']);
    },
  );

  it('keeps the scope of a cache marker in a rewrite', async () => {
    const marker = { type: 'ephemeral', scope: 'global' };
    const { sent, lost } = await ask(
      '/v1/messages',
      {
        model: '@claude/claude-sonnet-4-5',
        max_tokens: 2000,
        output_config: { effort: 'low' },
        system: [{ type: 'text', text: 's', cache_control: marker }],
        messages,
      },
      { 'anthropic-beta': 'prompt-caching-scope-2026-01-05' },
    );
    expect(sent?.system).toEqual([{ type: 'text', text: 's', cache_control: marker }]);
    expect(lost).toBe('output_config.effort');
  });

  it.each(['@claude/claude-sonnet-4-5', '@gemini/anthropic.claude-sonnet-4-5'])(
    'with a system prompt alone is a message of the user at %s',
    async (model) => {
      const { status, sent } = await ask('/v1/messages', { model, max_tokens: 9, system: 'be brief', messages: [] });
      expect(status).toBe(200);
      expect(sent).toMatchObject({ messages: [{ role: 'user', content: [{ text: 'be brief' }] }] });
      expect(sent).not.toHaveProperty('system');
    },
  );
});

describe('a place of processing that a config sets', () => {
  const doors = (model: string): readonly (readonly [string, object])[] => [
    ['/v1/messages', { model, max_tokens: 9, messages }],
    ['/v1/chat/completions', { model, messages, max_tokens: 9 }],
    ['/v1/responses', { model, input: 'x' }],
    [`/v1beta/models/${encodeURIComponent(model)}:generateContent`, { contents }],
  ];

  it.each([
    '@claude/claude-sonnet-4-5',
    '@gemini/anthropic.claude-sonnet-4-5',
    '@gemini/gemini-2.5-flash',
    '@openai/gpt-5',
  ])('is kept at Anthropic’s own API and refused elsewhere, from every door to %s', async (model) => {
    for (const [path, body] of doors(model)) {
      const { status, sent, reply } = await ask(path, body, { 'x-gateway-config': 'geo' });
      if (model.startsWith('@claude/')) expect([path, status, sent?.inference_geo]).toEqual([path, 200, 'us']);
      else {
        expect([path, status, sent]).toEqual([path, 400, undefined]);
        expect(JSON.stringify(reply)).toContain('inference_geo');
      }
    }
  });
});

describe('stop sequences beyond the limit of the target', () => {
  const stop = ['1', '2', '3', '4', '5', '6'];
  const strict = { 'x-gateway-strict-params': 'true' };

  it.each<[string, string, object]>([
    ['/v1/messages', '@gemini/gemini-2.5-flash', { max_tokens: 9, messages, stop_sequences: stop }],
    ['/v1/chat/completions', '@gemini/gemini-2.5-flash', { messages, stop }],
  ])('of %s to %s are a 400 under strict params', async (path, model, body) => {
    const { status, sent } = await ask(path, { model, ...body }, strict);
    expect([status, sent]).toEqual([400, undefined]);
  });
});
