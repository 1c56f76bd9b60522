import Anthropic, { APIError, BadRequestError } from '@anthropic-ai/sdk';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { entriesFor, json, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/** Tokens counted at each upstream that counts, by Anthropic's own client and by clients of Vertex AI. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script;
const TOKEN = 'ya29.of-the-caller';

/** Counts as the place that is asked writes it. */
const counts: Script = ({ url }, res) => {
  if (url.includes('countTokens'))
    return json(res, { totalTokens: 31, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 31 }] });
  return json(res, { input_tokens: 17, context_management: { original_input_tokens: 20 } });
};

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  const [openai, claude, gemini] = entriesFor(upstream.url) as [object, object, object];
  gateway = await startTestGateway({
    catalog: {
      providers: [
        openai,
        claude,
        { ...gemini, count_tokens_region: 'us-east5', anthropic_betas: { deny: ['files-api-2025-04-14'] } },
        { ...gemini, slug: 'same-place' },
        { ...openai, slug: 'estimated', provider: 'openai', base_url: `${upstream.url}/v1`, count: 'estimate' },
      ],
    },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}` },
        { id: 'narrow', key: '${env:NONE:-narrow-key-0123456789}', providers: ['@gemini'], models: ['gemini-2.5-*'] },
      ],
    },
    gateway: {
      limits: { provider: '@claude', override_params: { max_tokens: 1024, temperature: 0.5, stream: true } },
      betas: { provider: '@gemini', forward_headers: ['anthropic-beta'] },
      usual_betas: { provider: '@same-place', forward_headers: ['anthropic-beta'] },
      other: { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
      fallback: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } },
          { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
        ],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const client = (headers: Record<string, string> = {}) =>
  new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0, defaultHeaders: headers });
/** Where `Authorization` is taken, the SDK leaves its own key out. */
const google = { authorization: `Bearer ${TOKEN}`, 'x-gateway-api-key': KEY };
const messages = [{ role: 'user' as const, content: 'How many tokens is this?' }];
const tools = [
  { name: 'weather', description: 'Of a place', input_schema: { type: 'object' as const, properties: {} } },
];
const seen = () => upstream.seen.at(-1)!;
const caught = (work: Promise<unknown>) => work.catch((error: unknown) => error);
/** Among the details of an error of Google's. */
const withDetail = (fields: object): unknown => expect.arrayContaining([expect.objectContaining(fields)]);
const P = '/v1/projects/test-project/locations/us-central1';

describe('POST /v1/messages/count_tokens', () => {
  it('asks Anthropic with the caller’s own bytes, but for the model, and gives back what came', async () => {
    script = counts;
    const text = `{"model":"@claude/claude-sonnet-4-5", "messages":[{"role":"user","content":"hi"}],"big":12345678901234567890}`;
    const reply = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'anthropic-version': '2026-10-21' },
      body: text,
    });
    expect(await reply.text()).toBe('{"input_tokens":17,"context_management":{"original_input_tokens":20}}');
    expect(seen().url).toBe('/v1/messages/count_tokens');
    expect(seen().text).toBe(text.replace('@claude/', ''));
    expect(seen().headers).toMatchObject({ 'x-api-key': 'upstream-secret-key' });
    expect(seen().headers['anthropic-version']).toBe('2026-10-21');
  });

  it('counts for Anthropic’s client: system, tools, thinking and unknown fields are counted too', async () => {
    script = counts;
    const fields = { system: 'Be brief.', tools, thinking: { type: 'enabled' as const, budget_tokens: 2048 } };
    const count = await client().messages.countTokens({ model: '@claude/claude-sonnet-4-5', messages, ...fields });
    expect(count.input_tokens).toBe(17);
    expect(seen().json).toEqual({ model: 'claude-sonnet-4-5', messages, ...fields });
  });

  it('leaves out what a config sets for answers, which the upstream would refuse', async () => {
    script = counts;
    const { input_tokens: tokens } = await client({ 'x-gateway-config': 'limits' }).messages.countTokens({
      model: 'claude-sonnet-4-5',
      messages,
    });
    expect(tokens).toBe(17);
    expect(seen().json).toEqual({ model: 'claude-sonnet-4-5', messages });
  });

  it('asks Vertex AI about Claude with the model in the body, in the region that counts', async () => {
    script = counts;
    const count = await client(google).messages.countTokens({
      model: '@gemini/anthropic.claude-sonnet-4-5@20250929',
      messages,
    });
    expect(count.input_tokens).toBe(17);
    expect(seen().url).toBe(
      '/v1/projects/test-project/locations/us-east5/publishers/anthropic/models/count-tokens:rawPredict',
    );
    expect(seen().headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(seen().json).toEqual({
      model: 'claude-sonnet-4-5',
      messages,
      anthropic_version: 'vertex-2023-10-16',
    });
  });

  it('counts Claude where its entry is, unless another region is named for it', async () => {
    script = counts;
    await client(google).messages.countTokens({ model: '@same-place/anthropic.claude-sonnet-4-5', messages });
    expect(seen().url).toBe(`${P}/publishers/anthropic/models/count-tokens:rawPredict`);
  });

  it.each([
    ['the usual ones', 'usual_betas', 'claude-code-20250219,context-1m-2025-08-07', undefined],
    ['those that every count refuses', 'usual_betas', 'web-search-2025-03-05,advanced-tool-use-2025-11-20', undefined],
    ['both, at an entry with a list', 'betas', 'web-search-2025-03-05,context-1m-2025-08-07', 'context-1m-2025-08-07'],
  ])(
    'asks Vertex AI about Claude without a version and the betas that a count refuses: %s',
    async (_which, config, betas, left) => {
      script = counts;
      const headers = { ...google, 'x-gateway-config': config, 'anthropic-beta': betas };
      for (const version of ['', '@20250929', '@default']) {
        const model = `anthropic.claude-sonnet-4-5${version}`;
        expect((await client(headers).messages.countTokens({ model, messages })).input_tokens).toBe(17);
        expect(seen().json).toMatchObject({ model: 'claude-sonnet-4-5' });
        expect(seen().headers['anthropic-beta']).toBe(left);
      }
    },
  );

  it('sends on the betas the entry takes and reports the others', async () => {
    script = counts;
    const { response } = await client({
      ...google,
      'x-gateway-config': 'betas',
      'anthropic-beta': 'files-api-2025-04-14,context-1m-2025-08-07',
    })
      .messages.countTokens({ model: 'anthropic.claude-sonnet-4-5', messages })
      .withResponse();
    expect(seen().headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    expect(response.headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: files-api-2025-04-14');
  });

  it('asks Gemini in its own words', async () => {
    script = counts;
    const count = await client(google).messages.countTokens({
      model: '@gemini/gemini-2.5-flash',
      system: 'Be brief.',
      messages,
      tools,
      tool_choice: { type: 'any' },
    });
    expect(count).toMatchObject({ input_tokens: 31 });
    expect(seen().url).toBe(`${P}/publishers/google/models/gemini-2.5-flash:countTokens`);
    expect(seen().json).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'How many tokens is this?' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'weather' }] }],
    });
    expect(
      Object.keys(seen().json).filter(
        (key) => !['contents', 'systemInstruction', 'tools', 'generationConfig'].includes(key),
      ),
    ).toEqual([]);
    expect(seen().text).not.toContain('maxOutputTokens');
  });

  it('reports what Gemini has no words for, and refuses it for a caller that is strict', async () => {
    script = counts;
    const body = { model: '@gemini/gemini-2.5-flash', messages, unheard_of: 1 };
    const { response } = await client(google).messages.countTokens(body).withResponse();
    expect(response.headers.get('x-gateway-dropped-params')).toContain('unheard_of');
    const before = upstream.seen.length;
    const strict = client({ ...google, 'x-gateway-strict-params': 'true' });
    expect(await caught(strict.messages.countTokens(body))).toBeInstanceOf(BadRequestError);
    expect(upstream.seen.length).toBe(before);
  });

  it.each([
    ['an OpenAI-compatible server', '@openai/gpt-x'],
    ['Llama', '@gemini/meta.llama-4-maverick'],
    ['a deployed model', '@gemini/endpoints.123'],
  ])('says in Anthropic’s envelope that %s cannot count', async (_, model) => {
    const before = upstream.seen.length;
    const failure = await caught(client(google).messages.countTokens({ model, messages }));
    expect(failure).toMatchObject({
      status: 501,
      error: { type: 'error', error: { type: 'not_supported', details: { error_code: 'not_supported' } } },
    });
    expect((failure as APIError).headers?.get('x-should-retry')).toBe('false');
    expect(upstream.seen.length).toBe(before);
  });

  it.each([
    ['without messages', { model: '@claude/c' }, 'messages'],
    ['without a model', { messages }, 'model'],
    ['with a message that is text', { model: '@claude/c', messages: ['hi'] }, 'messages[0]'],
  ])('refuses a body %s and names the field', async (_, body, param) => {
    const reply = await post('/v1/messages/count_tokens', body, {});
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ type: 'error', error: { details: { param } } });
  });

  it.each<[string, (res: ServerResponse) => unknown, number, string]>([
    [
      'its words for a model that is not there',
      (res) => json(res, { type: 'error', error: { type: 'not_found_error', message: 'model: x' } }, 404),
      404,
      'not_found_error',
    ],
    ['a reply that holds no count', (res) => json(res, { tokens: 'many' }), 502, 'api_error'],
    ['a reply that is cut', (res) => res.end('{"input_to'), 502, 'api_error'],
  ])('tells of an upstream that answers %s', async (_, answer, status, type) => {
    script = (_request, res) => void answer(res);
    for (const model of ['@claude/x', '@gemini/anthropic.x']) {
      const failure = await caught(client(google).messages.countTokens({ model, messages }));
      expect(failure).toBeInstanceOf(APIError);
      expect(failure).toMatchObject({ status, error: { error: { type } } });
    }
  });

  it('goes to the next target when one fails, whatever format that speaks', async () => {
    script = (request, res, index) =>
      request.url.includes('count_tokens')
        ? json(res, { error: { message: 'busy' } }, 529)
        : counts(request, res, index);
    const config = client({ ...google, 'x-gateway-config': 'fallback' });
    const { data, response } = await config.messages.countTokens({ model: 'any', messages }).withResponse();
    expect(data.input_tokens).toBe(31);
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
  });
});

async function post(path: string, body: object, headers: Record<string, string>) {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...google, ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text, json: JSON.parse(text) as Record<string, unknown> };
}

describe('POST /v1/chat/completions/count_tokens', () => {
  const PATH = '/v1/chat/completions/count_tokens';
  const chatTools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
  const body = { messages: [{ role: 'system', content: 'Be brief.' }, ...messages], tools: chatTools, stream: true };

  it('asks Claude and Gemini in their own words', async () => {
    script = counts;
    const claude = await post(PATH, { ...body, model: '@claude/claude-sonnet-4-5' }, {});
    expect(claude.text).toBe('{"object":"chat.completion.input_tokens","input_tokens":17}');
    expect(seen().url).toBe('/v1/messages/count_tokens');
    expect(seen().json).toMatchObject({ system: [{ text: 'Be brief.' }], tools: [{ name: 'f' }] });
    expect(seen().json).not.toHaveProperty('max_tokens');
    const gemini = await post(PATH, { ...body, model: '@gemini/gemini-2.5-flash' }, {});
    expect(gemini.json).toEqual({ object: 'chat.completion.input_tokens', input_tokens: 31 });
    expect(gemini.headers.get('x-gateway-token-count')).toBeNull();
  });

  it('says with 501 that OpenAI cannot count, and tells SDKs not to retry', async () => {
    const reply = await post(PATH, { ...body, model: '@openai/gpt-x' }, {});
    expect(reply.status).toBe(501);
    expect(reply.json).toMatchObject({ error: { code: 'not_supported', type: 'invalid_request_error' } });
    expect(reply.headers.get('x-should-retry')).toBe('false');
  });

  it('estimates where the entry says so, without a call, and marks the reply', async () => {
    const before = upstream.seen.length;
    const request = { ...body, model: '@estimated/gpt-x' };
    const reply = await post(PATH, request, {});
    expect(reply.status).toBe(200);
    const estimate = Math.ceil(Buffer.byteLength(JSON.stringify(request)) / 4);
    expect(reply.json).toEqual({ object: 'chat.completion.input_tokens', input_tokens: estimate });
    expect(reply.headers.get('x-gateway-token-count')).toBe('estimate');
    const id = reply.headers.get('x-gateway-request-id');
    const line = () => gateway.logs.find((one) => one['request_id'] === id);
    await until(() => line() !== undefined, 'the request is logged');
    expect(line()).toMatchObject({ token_count: 'estimate', attempts: [{ tries: 0 }] });
    const claudes = await client().messages.countTokens({ model: '@estimated/gpt-x', messages }).withResponse();
    expect(claudes.data.input_tokens).toBeGreaterThan(10);
    expect(claudes.response.headers.get('x-gateway-token-count')).toBe('estimate');
    expect(upstream.seen.length).toBe(before);
  });

  it.each([
    ['without messages', { model: '@claude/c' }, 'messages'],
    ['with messages of the wrong type', { model: '@estimated/c', messages: 'hi' }, 'messages'],
    ['without a model', { messages }, 'model'],
  ])('refuses a body %s', async (_, wrong, param) => {
    const reply = await post(PATH, wrong, {});
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ error: { param } });
  });
});

describe('POST /v1/projects/…/models/{model}:countTokens', () => {
  const AT = '/v1/projects/my-project/locations/europe-west4/publishers';
  const contents = [{ role: 'user', parts: [{ text: 'How many?' }] }];
  const gemini = { 'x-gateway-provider': '@gemini' };

  it('asks Gemini with the caller’s own bytes and gives back what came', async () => {
    script = counts;
    const reply = await post(`${AT}/google/models/gemini-2.5-flash:countTokens`, { contents, extra: 1 }, gemini);
    expect(reply.status).toBe(200);
    expect(reply.text).toBe('{"totalTokens":31,"promptTokensDetails":[{"modality":"TEXT","tokenCount":31}]}');
    expect(seen().url).toBe(`${P}/publishers/google/models/gemini-2.5-flash:countTokens`);
    expect(seen().text).toBe(JSON.stringify({ contents, extra: 1 }));
    expect(reply.headers.get('x-gateway-provider')).toBe('gemini');
  });

  it('takes the model’s resource name in the body out again', async () => {
    script = counts;
    const model = 'projects/p/locations/l/publishers/google/models/gemini-2.5-flash';
    await post(`${AT}/google/models/gemini-2.5-flash:countTokens`, { model, contents }, gemini);
    expect(seen().text).toBe(JSON.stringify({ contents }));
  });

  it('asks about Claude, and answers in Google’s words', async () => {
    script = counts;
    const system = { systemInstruction: { parts: [{ text: 'Be brief.' }] } };
    const path = `${AT}/anthropic/models/claude-sonnet-4-5%4020250929:countTokens`;
    const onVertex = await post(path, { contents, ...system }, gemini);
    expect(onVertex.text).toBe('{"totalTokens":17}');
    expect(seen().json).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      model: 'claude-sonnet-4-5',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'How many?' }] }],
    });
    const conflict = await post(path, { contents }, { 'x-gateway-provider': '@claude' });
    expect(conflict.text).toBe('{"totalTokens":17}');
    expect(seen().url).toBe('/v1/messages/count_tokens');
  });

  it('lets a config choose entry and model', async () => {
    script = counts;
    await post(`${AT}/google/models/any:countTokens`, { contents }, { 'x-gateway-config': 'other' });
    expect(seen().url).toContain('/publishers/google/models/gemini-2.5-flash:countTokens');
  });

  it('holds a key to its models, wherever they are named', async () => {
    const narrow = { ...gemini, 'x-gateway-api-key': 'narrow-key-0123456789' };
    const claude = await post(`${AT}/anthropic/models/claude-x:countTokens`, { contents }, narrow);
    expect(claude.json).toMatchObject({ error: { code: 403, status: 'PERMISSION_DENIED' } });
  });

  it.each([
    ['a model that holds a slash', `${AT}/google/models/a%2Fb:countTokens`, 'invalid_model'],
    ['a model with a place of its own', `${AT}/google/models/%40gemini:countTokens`, 'invalid_model'],
    ['a model that climbs', `${AT}/google/models/..%5C:countTokens`, 'invalid_model'],
    ['a publisher that is none', `${AT}/a%2Eb/models/x:countTokens`, 'invalid_model'],
    ['broken encoding', `${AT}/google/models/%zz:countTokens`, 'invalid_request'],
  ])('refuses %s in Google’s words', async (_, path, reason) => {
    const before = upstream.seen.length;
    const { json: body } = await post(path, { contents }, gemini);
    expect(body).toMatchObject({
      error: { code: 400, status: 'INVALID_ARGUMENT', details: withDetail({ reason }) },
    });
    expect(upstream.seen.length).toBe(before);
  });

  it.each([
    ['a model that does not count', `${AT}/meta/models/llama-4:countTokens`],
    ['an open model', `${AT}/qwen/models/qwen3-maas:countTokens`],
  ])('says in Google’s words that %s cannot count', async (_, path) => {
    const { status, json: body } = await post(path, { contents }, gemini);
    expect(status).toBe(501);
    expect(body).toMatchObject({
      error: { code: 501, status: 'UNIMPLEMENTED', details: withDetail({ reason: 'not_supported' }) },
    });
  });

  it.each([
    ['names another model than the path', { model: 'models/other', contents }, 'model'],
    ['has no contents', {}, 'contents'],
    ['has contents that are a text', { contents: 'hi' }, 'contents'],
  ])('refuses a body that %s', async (_, body, field) => {
    const { json: failure } = await post(`${AT}/google/models/gemini-2.5-flash:countTokens`, body, gemini);
    expect(failure).toMatchObject({
      error: { code: 400, details: withDetail({ fieldViolations: [expect.objectContaining({ field })] }) },
    });
  });

  it('ignores the project and the location of its path, and notes them in the record', async () => {
    script = counts;
    const path = '/v1/projects/UPPER/locations/nowhere.example/publishers/google/models/gemini-2.5-pro:countTokens';
    const narrow = { 'x-gateway-api-key': 'narrow-key-0123456789' };
    const reply = await post(path, { contents }, narrow);
    expect(reply.status).toBe(200);
    expect(seen().url).toBe(`${P}/publishers/google/models/gemini-2.5-pro:countTokens`);
    const id = reply.headers.get('x-gateway-request-id')!;
    const record = await fetch(`${gateway.gateway.admin!.url}/admin/v1/requests/${id}`);
    expect(await record.json()).toMatchObject({ ignored: { project: 'UPPER', location: 'nowhere.example' } });
    const ambiguous = await post(path, { contents }, {});
    expect(ambiguous.json).toMatchObject({ error: { details: withDetail({ reason: 'ambiguous_provider' }) } });
  });

  it('keeps the label of its route to one value', async () => {
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const routes = new Set(
      [...metrics.matchAll(/gatehouse_requests_total\{route="([^"]*projects[^"]*)"[^}]*\} [1-9]/g)].map(
        ([, route]) => route,
      ),
    );
    expect([...routes]).toEqual([
      '/{version:v1|v1beta1}/projects/{project}/locations/{location}/publishers/{publisher}/models/{+model}:countTokens',
    ]);
  });
});
