import type { ServerResponse } from 'node:http';
import OpenAI, { APIError, BadRequestError, PermissionDeniedError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Every kind of model Vertex AI serves: what arrives there, and what the openai SDK makes of what comes back. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script = () => {};

const P = '/v1/projects/test-project/locations/us-central1';
const DONE = 'data: [DONE]\n\n';

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  const common = { provider: 'vertex-ai', base_url: upstream.url, allow_insecure: true };
  const project = { ...common, project_id: 'test-project', region: 'us-central1' };
  gateway = await startTestGateway(
    {
      catalog: {
        providers: [
          {
            slug: 'vertex',
            ...project,
            endpoints: {
              'my-llama': { id: '1001', model: 'meta-llama/Llama-3.1-8B-Instruct' },
              'my-raw': { id: '1002', method: 'raw_predict' },
              'my-gemma': { id: '1003', method: 'predict' },
              'my-tuned': { id: '1004', method: 'gemini', model: 'gemini-2.5-flash' },
            },
          },
          { slug: 'lists', ...project, anthropic_betas: { deny: ['output-128k-2025-02-19'] }, api_version: 'v1beta1' },
          { slug: 'express', ...common, api_key: '${env:EXPRESS_KEY}' },
        ],
      },
      gateway: { betas: { provider: '@vertex', forward_headers: ['anthropic-beta'] } },
    },
    { env: { EXPRESS_KEY: 'AQ.express-CANARY' } },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** The caller's own Google token, as an entry with nothing but a project asks for. */
const defaultHeaders = { 'x-gateway-api-key': KEY, authorization: 'Bearer ya29.of-the-caller' };
const client = (more: Record<string, string> = {}) =>
  new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: 'unused',
    maxRetries: 0,
    defaultHeaders: { ...defaultHeaders, ...more },
  });
const messages = [{ role: 'user' as const, content: 'Weather in Oslo?' }];
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
const seen = () => upstream.seen.at(-1)!;

interface Kind {
  readonly model: string;
  /** Plain and streamed. */
  readonly paths: readonly [string, string];
  /** Name of the model in the body. */
  readonly name: string | undefined;
  readonly reply: (res: ServerResponse, stream: boolean) => unknown;
  readonly call: (res: ServerResponse, stream: boolean) => unknown;
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
const openaiCall = openaiReply('', {
  choices: [
    { index: 0, message: { role: 'assistant', content: null, tool_calls: [CALL] }, finish_reason: 'tool_calls' },
  ],
});
const speaksOpenAi: Pick<Kind, 'reply' | 'call'> = {
  reply: (res, stream) =>
    stream
      ? sse(res, [openaiChunk({ role: 'assistant', content: 'Hel' }), openaiChunk({ content: 'lo.' }, 'stop'), DONE])
      : json(res, openaiReply('Hello.')),
  call: (res, stream) =>
    stream
      ? sse(res, [
          openaiChunk({ role: 'assistant', tool_calls: [{ index: 0, ...CALL }] }),
          openaiChunk({}, 'tool_calls'),
          DONE,
        ])
      : json(res, openaiCall),
};
const [start, , , stop, , end] = anthropicEvents('x') as [object, object, object, object, object, object];
const speaksAnthropic: Pick<Kind, 'reply' | 'call'> = {
  reply: (res, stream) =>
    stream
      ? sse(res, ['event: vertex_event\ndata: {"usage":1}\n\n', ...anthropicEvents('Hel', 'lo.')])
      : json(res, anthropicReply('Hello.')),
  call: (res, stream) =>
    stream
      ? sse(res, [
          start,
          {
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
          },
          'event: vertex_event\ndata: not even JSON\n\n',
          {
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' },
          },
          stop,
          {
            type: 'message_delta',
            delta: { stop_reason: 'tool_use', stop_sequence: null },
            usage: { output_tokens: 2 },
          },
          end,
        ])
      : json(res, {
          ...anthropicReply(''),
          content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }],
          stop_reason: 'tool_use',
        }),
};
const geminiCall = {
  ...geminiReply(''),
  candidates: [
    {
      content: { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
};
const speaksGemini: Pick<Kind, 'reply' | 'call'> = {
  reply: (res, stream) => (stream ? sse(res, [geminiReply('Hello.')]) : json(res, geminiReply('Hello.'))),
  call: (res, stream) => (stream ? sse(res, [geminiCall]) : json(res, geminiCall)),
};
/** It answers at once, whatever is asked. */
const predicts: Pick<Kind, 'reply' | 'call'> = {
  reply: (res) => json(res, { predictions: openaiReply('Hello.'), deployedModelId: '7', model: 'projects/1/models/2' }),
  call: (res) => json(res, { predictions: [openaiCall] }),
};

const both = (path: string): [string, string] => [path, path];
const raw = (path: string): [string, string] => [`${path}:rawPredict`, `${path}:streamRawPredict`];
const generate = (path: string): [string, string] => [
  `${path}:generateContent`,
  `${path}:streamGenerateContent?alt=sse`,
];

const KINDS: readonly Kind[] = [
  {
    model: '@vertex/anthropic.claude-sonnet-4-5@20250929',
    paths: raw(`${P}/publishers/anthropic/models/claude-sonnet-4-5@20250929`),
    name: undefined,
    ...speaksAnthropic,
  },
  {
    model: '@vertex/meta.llama-4-scout-17b-16e-instruct-maas',
    paths: both(`${P}/endpoints/openapi/chat/completions`),
    name: 'meta/llama-4-scout-17b-16e-instruct-maas',
    ...speaksOpenAi,
  },
  {
    model: '@vertex/familyb.llama-3.3-70b-instruct-maas',
    paths: both(`${P}/endpoints/openapi/chat/completions`),
    name: 'meta/llama-3.3-70b-instruct-maas',
    ...speaksOpenAi,
  },
  {
    model: '@vertex/deepseek-ai/deepseek-v3.1-maas',
    paths: both(`${P}/endpoints/openapi/chat/completions`),
    name: 'deepseek-ai/deepseek-v3.1-maas',
    ...speaksOpenAi,
  },
  {
    model: '@vertex/mistralai.mistral-large@2407',
    paths: raw(`${P}/publishers/mistralai/models/mistral-large@2407`),
    name: 'mistral-large',
    ...speaksOpenAi,
  },
  {
    model: '@vertex/endpoints.5464397967697903616',
    paths: both(`${P}/endpoints/5464397967697903616/chat/completions`),
    name: '5464397967697903616',
    ...speaksOpenAi,
  },
  {
    model: '@vertex/endpoints.my-llama',
    paths: both(`${P}/endpoints/1001/chat/completions`),
    name: 'meta-llama/Llama-3.1-8B-Instruct',
    ...speaksOpenAi,
  },
  { model: '@vertex/endpoints.my-raw', paths: raw(`${P}/endpoints/1002`), name: '1002', ...speaksOpenAi },
  { model: '@vertex/endpoints.my-gemma', paths: both(`${P}/endpoints/1003:predict`), name: undefined, ...predicts },
  { model: '@vertex/endpoints.my-tuned', paths: generate(`${P}/endpoints/1004`), name: undefined, ...speaksGemini },
  {
    model: '@express/gemini-2.5-flash',
    paths: generate('/v1/publishers/google/models/gemini-2.5-flash'),
    name: undefined,
    ...speaksGemini,
  },
];

describe.each(KINDS)('$model', ({ model, paths, name, reply, call }) => {
  it('chats', async () => {
    script = (_, res) => void reply(res, false);
    const answer = await client().chat.completions.create({ model, messages, max_tokens: 64 });
    expect(answer.choices[0]?.message.content).toBe('Hello.');
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
    expect([seen().method, seen().url, seen().json['model']]).toEqual(['POST', paths[0], name]);
  });

  it('streams', async () => {
    script = (_, res) => void reply(res, true);
    const stream = await client().chat.completions.create({ model, messages, max_tokens: 64, stream: true });
    let text = '';
    let finish: string | null = null;
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      finish = choices[0]?.finish_reason ?? finish;
    }
    expect([text, finish, seen().url]).toEqual(['Hello.', 'stop', paths[1]]);
  });

  it('calls tools, plain and streamed', async () => {
    script = (_, res) => void call(res, false);
    const answer = await client().chat.completions.create({ model, messages, tools, max_tokens: 64 });
    const [choice] = answer.choices;
    expect(choice?.message.tool_calls).toMatchObject([{ type: 'function', function: { name: 'weather' } }]);
    const [made] = choice?.message.tool_calls ?? [];
    expect(made?.type === 'function' && JSON.parse(made.function.arguments)).toEqual({ city: 'Oslo' });
    expect(choice?.finish_reason).toBe('tool_calls');
    script = (_, res) => void call(res, true);
    const streamed = client().chat.completions.stream({ model, messages, tools, max_tokens: 64 });
    const final = await streamed.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'weather' } }]);
    expect(final.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it.each([false, true])('tells of a refusal in the words of the upstream (stream %s)', async (stream) => {
    const message = "Permission 'aiplatform.endpoints.predict' denied on resource (or it may not exist).";
    script = (_, res) => json(res, { error: { code: 403, message, status: 'PERMISSION_DENIED' } }, 403);
    const error: unknown = await client()
      .chat.completions.create({ model, messages, max_tokens: 64, stream })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PermissionDeniedError);
    const reported = (error as APIError).message;
    expect(reported).toContain(message);
    // An API key has no role.
    expect(reported.includes('roles/aiplatform.user')).toBe(!model.startsWith('@express'));
  });

  it('sends the credential of its entry and nothing else of the caller’s', async () => {
    script = (_, res) => void reply(res, false);
    await client({ 'x-tenant': 'acme' }).chat.completions.create({ model, messages, max_tokens: 64 });
    const { headers } = seen();
    const credential = model.startsWith('@express')
      ? { 'x-goog-api-key': 'AQ.express-CANARY' }
      : { authorization: 'Bearer ya29.of-the-caller' };
    expect(headers).toMatchObject(credential);
    expect(Object.keys(headers)).not.toContain(model.startsWith('@express') ? 'authorization' : 'x-goog-api-key');
    expect(JSON.stringify(headers)).not.toContain(KEY);
    expect(headers).not.toHaveProperty('x-tenant');
  });
});

/** Written as no serializer would. */
const ODD = (model: string, rest = '') =>
  `{ "messages":[ {"role":"user","content":"Gr\\u00fc\\u00dfe", "x":[ ]} ], "model" : ${JSON.stringify(model)},` +
  `"guided_choice":["a"], "seed":12345678901234567890123, "temperature":1.0${rest} }`;

async function post(body: string, more: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...defaultHeaders, 'content-type': 'application/json', ...more },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('a body in OpenAI’s format', () => {
  it.each([
    ['@vertex/meta.llama-x-maas', 'meta/llama-x-maas'],
    ['@vertex/qwen/qwen3-maas', 'qwen/qwen3-maas'],
    ['@vertex/mistralai.mistral-small-2503', 'mistral-small-2503'],
    ['@vertex/endpoints.my-raw', '1002'],
  ])('arrives as it was written but for the model: %s', async (model, name) => {
    script = (_, res) => json(res, openaiReply('hi'));
    await post(ODD(model));
    expect(seen().text).toBe(ODD(name));
  });

  it('is asked for usage on streams, but not at Mistral', async () => {
    script = (_, res) => void speaksOpenAi.reply(res, true);
    const stream = ',"stream":true';
    await post(ODD('@vertex/meta.llama-x-maas', stream));
    expect(seen().json['stream_options']).toEqual({ include_usage: true });
    await post(ODD('@vertex/mistralai.mistral-small-2503', stream));
    expect(seen().text).toBe(ODD('mistral-small-2503', stream));
  });

  it('is the instance of a predict call, and a stream of it is reported as a loss', async () => {
    script = (_, res) => json(res, { predictions: openaiReply('Hello.') });
    const { headers, text } = await post(
      JSON.stringify({ model: '@vertex/endpoints.my-gemma', messages, top_k: 5, stream: true }),
    );
    expect(seen().json).toEqual({
      instances: [{ '@requestFormat': 'chatCompletions', messages, top_k: 5 }],
      parameters: {},
    });
    expect(headers.get('x-gateway-dropped-params')).toBe('stream');
    expect(headers.get('content-type')).toContain('text/event-stream');
    expect(text).toMatch(/^data: \{/);
    expect(text.endsWith(DONE)).toBe(true);
    // Unrequested usage is counted, not shown.
    expect(text).not.toContain('"usage":{');
  });

  it('answers a prediction that is no chat completion with a 502', async () => {
    for (const predictions of [['Prompt: hi'], [], [{ label: 'cat' }]]) {
      script = (_, res) => json(res, { predictions });
      for (const stream of [false, true]) {
        const { status } = await post(JSON.stringify({ model: '@vertex/endpoints.my-gemma', messages, stream }));
        expect(status).toBe(502);
      }
    }
  });

  it('gets an error from inside of a prediction as an error', async () => {
    script = (_, res) => json(res, { predictions: [{ error: { message: 'CUDA out of memory', code: 503 } }] });
    const { status, text } = await post(JSON.stringify({ model: '@vertex/endpoints.my-gemma', messages }));
    expect([status, text]).toEqual([503, expect.stringContaining('CUDA out of memory')]);
  });
});

describe('betas of Claude on Vertex', () => {
  const model = 'anthropic.claude-sonnet-4-5@20250929';
  const ask = (slug: string, betas: string, more: Record<string, string> = {}) =>
    post(
      JSON.stringify({ model: `@${slug}/${model}`, messages, max_tokens: 9, anthropic_beta: betas.split(',') }),
      more,
    );

  it('are sent where Vertex takes them, and told as lost where not', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    const { status, headers } = await ask('vertex', 'context-1m-2025-08-07,prompt-caching-scope-2026-01-05');
    expect(status).toBe(200);
    expect(seen().headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    expect(seen().json).not.toHaveProperty('anthropic_beta');
    expect(headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: prompt-caching-scope-2026-01-05');
  });

  it('leave no empty header behind', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    expect((await ask('vertex', 'files-api-2025-04-14')).status).toBe(200);
    expect(seen().headers).not.toHaveProperty('anthropic-beta');
  });

  it('are filtered in headers that a config forwards, too', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    const { headers } = await ask('vertex', 'context-1m-2025-08-07', {
      'x-gateway-config': 'betas',
      'anthropic-beta': 'effort-2025-11-24, interleaved-thinking-2025-05-14',
    });
    expect(seen().headers['anthropic-beta']?.toString().split(',').toSorted()).toEqual([
      'context-1m-2025-08-07',
      'interleaved-thinking-2025-05-14',
    ]);
    expect(headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: effort-2025-11-24');
  });

  it('follow the list of the entry', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    const { headers } = await ask('lists', 'brand-new-2030-01-01,output-128k-2025-02-19');
    expect(seen().headers['anthropic-beta']).toBe('brand-new-2030-01-01');
    expect(headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: output-128k-2025-02-19');
    expect(seen().url.startsWith('/v1beta1/projects/')).toBe(true);
  });

  it('are a 400 for a caller that would rather have none dropped', async () => {
    const before = upstream.seen.length;
    const { status, text } = await ask('vertex', 'effort-2025-11-24', { 'x-gateway-strict-params': 'true' });
    expect([status, text]).toEqual([400, expect.stringContaining('effort-2025-11-24')]);
    expect(upstream.seen.length).toBe(before);
  });
});

describe('a model name', () => {
  it.each([
    '@vertex/meta.',
    '@vertex/endpoints.openapi',
    '@vertex/endpoints.1:predict',
    '@vertex/deepseek-ai/../../x',
    '@vertex/anthropic/claude-x',
    '@vertex/mistralai.a/b',
    '@express/anthropic.claude-x',
    '@express/endpoints.1',
  ])('that leads nowhere is a 400 that never leaves: %s', async (model) => {
    const before = upstream.seen.length;
    const error: unknown = await client()
      .chat.completions.create({ model, messages })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_model', param: 'model' });
    expect(upstream.seen.length).toBe(before);
  });

  it('of an endpoint without its prefix is a standard model', async () => {
    script = (_, res) => json(res, geminiReply('Hello.'));
    await client().chat.completions.create({ model: '@vertex/my-llama', messages });
    expect(seen().url).toBe(`${P}/publishers/google/models/my-llama:generateContent`);
  });
});

it('no secret of an entry reaches the log', async () => {
  script = (_, res) => json(res, { error: { code: 400, message: 'API key AQ.express-CANARY not valid.' } }, 400);
  const id = 'express-key-in-an-error';
  const { text } = await post(JSON.stringify({ model: '@express/gemini-2.5-flash', messages }), { 'x-request-id': id });
  await until(() => gateway.logs.some((line) => line['request_id'] === id), 'the request is logged');
  expect(text + gateway.logText()).not.toContain('CANARY');
});
