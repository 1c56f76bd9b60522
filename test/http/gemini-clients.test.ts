import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, GoogleGenAI, type Content, type GenerateContentResponse } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

/** Google's own client, unchanged, against a running gateway: to Gemini, to Claude and to a server with OpenAI's API. */

const CANARY = 'AIza-upstream-canary';
const GEMINI = '@studio/gemini-2.5-flash';
const CLAUDE = '@claude/claude-sonnet-4-5-20250929';
const OPENAI = '@openai/gpt-4o';

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let folder: string;
beforeAll(async () => {
  upstream = await startUpstream((request, res) => answer(request, res));
  const at = { base_url: upstream.url, allow_insecure: true, api_key: `\${env:NONE:-${CANARY}}` };
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-gemini-'));
  gateway = await startTestGateway({
    server: { files: { dir: folder } },
    catalog: {
      providers: [
        { slug: 'studio', provider: 'google-ai-studio', ...at, models: ['gemini-2.5-flash', 'gemini-embedding-001'] },
        { slug: 'claude', provider: 'anthropic', ...at, models: ['claude-sonnet-4-5-20250929'] },
        { slug: 'openai', provider: 'openai', ...at, base_url: `${upstream.url}/v1`, models: ['gpt-4o', 'te-3'] },
        {
          slug: 'vertex',
          provider: 'vertex-ai',
          project_id: 'own-project',
          region: 'us-central1',
          base_url: upstream.url,
          allow_insecure: true,
          models: ['gemini-2.5-pro', 'anthropic.claude-x'],
        },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const clientOf = (apiVersion?: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url, ...(apiVersion && { apiVersion }) } });
const last = (): SeenRequest => upstream.seen.at(-1)!;

const CALL = { name: 'weather', args: { city: 'Oslo' } };
const geminiCall = {
  ...geminiReply(''),
  candidates: [
    {
      content: { role: 'model', parts: [{ functionCall: CALL, thoughtSignature: 'R2VtaW5p' }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
};
const claudeCall = {
  ...anthropicReply(''),
  content: [
    { type: 'thinking', thinking: 'The weather…', signature: 'Q2xhdWRl' },
    { type: 'tool_use', id: 'toolu_1', name: CALL.name, input: CALL.args },
  ],
  stop_reason: 'tool_use',
};
const openaiCall = openaiReply('', {
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: CALL.name, arguments: JSON.stringify(CALL.args) } },
        ],
      },
      finish_reason: 'tool_calls',
      logprobs: null,
    },
  ],
});

const claudeStream = [
  { type: 'message_start', message: { ...anthropicReply(''), content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];

function answer({ url, text, json: body }: SeenRequest, res: Parameters<typeof json>[0]): void | Promise<void> {
  if (text.includes('refuse me')) {
    const google = { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } };
    const other = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } };
    return json(res, url.includes('enerateContent') ? google : other, 429);
  }
  if (url.includes('awPredict')) return json(res, { error: { message: 'No such model.' } }, 404);
  if (url.includes(':countTokens')) return json(res, { totalTokens: 7 });
  if (url.includes('count_tokens')) return json(res, { input_tokens: 7 });
  if (url.includes(':batchEmbedContents')) {
    const count = (body['requests'] as unknown[]).length;
    return json(res, { embeddings: Array.from({ length: count }, (_, at) => ({ values: [at, 0.5] })) });
  }
  if (url.includes('/embeddings')) {
    const data = (body['input'] as unknown[]).map((_, index) => ({
      object: 'embedding',
      index,
      embedding: [index, 0.5],
    }));
    return json(res, { object: 'list', model: 'te-3', data, usage: { prompt_tokens: 3, total_tokens: 3 } });
  }
  const calls = text.includes('call the tool') && !/functionResponse|tool_result|"tool"/.test(text);
  if (url.includes(':streamGenerateContent')) {
    const [one, two] = ['Hel', 'lo.'].map((piece) => `data: ${JSON.stringify(geminiReply(piece))}\r\n\r\n`);
    return sse(res, [one!, two!]);
  }
  if (url.includes(':generateContent')) return json(res, calls ? geminiCall : geminiReply('Hello.'));
  if (url.includes('/messages')) {
    if (body['stream'] === true) return sse(res, claudeStream);
    return json(res, calls ? claudeCall : anthropicReply('Hello.'));
  }
  if (body['stream'] === true)
    return sse(res, [
      openaiChunk({ role: 'assistant', content: 'Hel' }),
      openaiChunk({ content: 'lo.' }, 'stop'),
      { ...openaiChunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
      'data: [DONE]\n\n',
    ]);
  return json(res, calls ? openaiCall : openaiReply('Hello.'));
}

const tools = [
  {
    functionDeclarations: [
      { name: 'weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } } },
    ],
  },
];

describe.each([GEMINI, CLAUDE, OPENAI])('@google/genai with %s', (model) => {
  const client = { models: undefined as unknown as GoogleGenAI['models'] };
  beforeAll(() => {
    client.models = clientOf().models;
  });

  it('gets an answer', async () => {
    const reply = await client.models.generateContent({
      model,
      contents: 'Hi',
      config: { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 50, stopSequences: ['END'] },
    });
    expect(reply.text).toBe('Hello.');
    expect(reply.candidates?.[0]?.finishReason).toBe('STOP');
    expect(reply.usageMetadata).toMatchObject({ promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 });
    expect(reply.responseId).toEqual(expect.any(String));
  });

  it('gets a stream', async () => {
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hi' })) chunks.push(chunk);
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('Hello.');
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    expect(chunks.at(-1)?.usageMetadata?.totalTokenCount).toBe(5);
  });

  it('runs a tool, and its turns go back as they came', async () => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'call the tool' }] }];
    const thinkingConfig = { includeThoughts: true, thinkingBudget: 1024 };
    const config = { tools, thinkingConfig, maxOutputTokens: 4096 };
    const first = await client.models.generateContent({ model, contents, config });
    const [call] = first.functionCalls ?? [];
    expect(call).toMatchObject(CALL);
    contents.push(first.candidates![0]!.content!, {
      role: 'user',
      parts: [
        { functionResponse: { ...(call!.id && { id: call!.id }), name: 'weather', response: { output: 'rain' } } },
      ],
    });
    expect((await client.models.generateContent({ model, contents, config })).text).toBe('Hello.');
    if (model === GEMINI) expect(last().text).toContain('"thoughtSignature":"R2VtaW5p"');
    if (model === CLAUDE)
      expect(last().json['messages']).toMatchObject([
        {},
        {
          content: [
            { type: 'thinking', signature: 'Q2xhdWRl' },
            { type: 'tool_use', id: 'toolu_1' },
          ],
        },
        { content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ]);
  });

  it('gets an error in Google’s shape', async () => {
    const failure: unknown = await client.models
      .generateContent({ model, contents: 'refuse me' })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(ApiError);
    const { status, message } = failure as ApiError;
    expect(status).toBe(429);
    expect(JSON.parse(message)).toMatchObject({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('Slow down.') },
    });
  });
});

describe('@google/genai', () => {
  it.each([GEMINI, CLAUDE])('counts the tokens of %s', async (model) => {
    expect((await clientOf().models.countTokens({ model, contents: 'Hi' })).totalTokens).toBe(7);
  });

  it.each(['@studio/gemini-embedding-001', '@openai/te-3'])('embeds with %s', async (model) => {
    const { embeddings } = await clientOf('v1beta').models.embedContent({
      model,
      contents: ['a', 'b'],
      config: { outputDimensionality: 2 },
    });
    expect(embeddings).toMatchObject([{ values: [0, 0.5] }, { values: [1, 0.5] }]);
    expect(last().json).toMatchObject(
      model.startsWith('@openai')
        ? { model: 'te-3', input: ['a', 'b'], dimensions: 2 }
        : {
            requests: ['a', 'b'].map((text) => ({
              model: 'models/gemini-embedding-001',
              content: { parts: [{ text }] },
              outputDimensionality: 2,
            })),
          },
    );
  });

  it('lists the models, in pages', async () => {
    const names: (string | undefined)[] = [];
    for await (const model of await clientOf().models.list({ config: { pageSize: 2, queryBase: true } }))
      names.push(model.name);
    expect(names).toContain(`models/${CLAUDE}`);
    expect(names.length).toBe(7);
    expect(await clientOf('v1beta').models.get({ model: OPENAI })).toMatchObject({
      name: `models/${OPENAI}`,
      displayName: 'gpt-4o',
    });
  });

  it('uploads a file, and names it to Gemini and to Claude', async () => {
    const { files, models } = clientOf();
    const bytes = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
    const file = await files.upload({
      file: new Blob([bytes]),
      config: { mimeType: 'image/png', displayName: 'a.png' },
    });
    expect(file).toMatchObject({ displayName: 'a.png', mimeType: 'image/png', sizeBytes: '12', state: 'ACTIVE' });
    expect(await files.get({ name: file.name! })).toEqual(file);
    const parts = [{ text: 'Hi' }, { fileData: { fileUri: file.uri!, mimeType: file.mimeType! } }];
    const data = bytes.toString('base64');
    for (const model of [GEMINI, CLAUDE]) {
      expect((await models.generateContent({ model, contents: [{ role: 'user', parts }] })).text).toBe('Hello.');
      expect(last().json).toMatchObject(
        model === GEMINI
          ? { contents: [{ parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data } }] }] }
          : {
              messages: [{ content: [{ text: 'Hi' }, { source: { type: 'base64', media_type: 'image/png', data } }] }],
            },
      );
    }
    const names = [];
    for await (const one of await files.list()) names.push(one.name);
    expect(names).toEqual([file.name]);
    await files.delete({ name: file.name! });
    const failure = await files.get({ name: file.name! }).catch((error: unknown) => error);
    expect((failure as ApiError).status).toBe(404);
  });

  it.each([
    ['without an offset', { 'x-goog-upload-command': 'upload, finalize' }, 400],
    ['without a beginning', { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' }, 404],
    ['without a command', {}, 400],
  ])('is refused a file %s', async (_, headers, status) => {
    const url = `${gateway.url}/upload/v1beta/files?upload_id=bm9uZQ`;
    const reply = await fetch(url, { method: 'POST', headers: { 'x-goog-api-key': KEY, ...headers }, body: 'bytes' });
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({ error: { code: status, status: expect.any(String) } });
  });

  it('in Vertex AI’s form, with a key, reaches the project of the entry', async () => {
    const client = new GoogleGenAI({
      vertexai: true,
      apiKey: KEY,
      httpOptions: { baseUrl: gateway.url, headers: { authorization: 'Bearer callers-token' } },
    });
    expect((await client.models.generateContent({ model: 'gemini-2.5-pro', contents: 'Hi' })).text).toBe('Hello.');
    expect(last().url).toBe(
      '/v1/projects/own-project/locations/us-central1/publishers/google/models/gemini-2.5-pro:generateContent',
    );
    const stream = await client.models.generateContentStream({ model: `models/${CLAUDE}`, contents: 'Hi' });
    let text = '';
    for await (const chunk of stream) text += chunk.text ?? '';
    expect(text).toBe('Hello.');
  });

  it('with a wrong key, or for an unknown model, gets Google’s status', async () => {
    const stranger = new GoogleGenAI({ apiKey: 'AIza-wrong', httpOptions: { baseUrl: gateway.url } });
    const failures = await Promise.all(
      [stranger, clientOf()].map(({ models }) =>
        models.generateContent({ model: '@nowhere/m', contents: 'Hi' }).catch((error: unknown) => error),
      ),
    );
    expect(failures.map((failure) => (failure as ApiError).status)).toEqual([401, 400]);
    expect(String(failures[0])).toContain('UNAUTHENTICATED');
    expect(String(failures)).not.toContain('AIza-wrong');
  });
});

describe('Anthropic’s paths on Vertex AI', () => {
  const AT = '/v1/projects/theirs/locations/us-east5/publishers/anthropic/models';
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = async (path: string, body: object, provider = '@vertex') => {
    const headers = { 'x-goog-api-key': KEY, 'x-gateway-provider': provider, authorization: 'Bearer callers-token' };
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    const reply = await fetch(gateway.url + path, init);
    return { status: reply.status, text: await reply.text() };
  };

  it('take a message, whose bytes stay as they are', async () => {
    const body = { anthropic_version: 'vertex-2023-10-16', max_tokens: 5, messages };
    expect(await ask(`${AT}/claude-x:rawPredict`, body)).toMatchObject({ status: 404 });
    expect(last().url).toBe(
      '/v1/projects/own-project/locations/us-central1/publishers/anthropic/models/claude-x:rawPredict',
    );
    expect(last().text).toBe(JSON.stringify(body));
    await ask('/v1beta1/publishers/anthropic/models/claude-x:streamRawPredict', { ...body, stream: true });
    expect(last().url).toContain('claude-x:streamRawPredict');
    expect(await ask(`${AT}/claude-x:rawPredict`, { ...body, stream: true })).toMatchObject({ status: 400 });
  });

  it('count tokens', async () => {
    const body = { anthropic_version: 'vertex-2023-10-16', model: 'claude-x', messages };
    const { text } = await ask(`${AT}/count-tokens:rawPredict`, body);
    expect(text).toContain('{');
    expect(last().url).toContain('/publishers/anthropic/models/count-tokens:rawPredict');
    expect(last().json).toEqual(body);
  });
});

describe('to Gemini', () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

  it('the bytes of a body stay as they are, and those of the reply', async () => {
    const body =
      '{ "contents": [{"parts":[{"text":"Hi \\u00e9"}]}], "generation_config" : {"top_p":0.10, "seed": 9007199254740993}, "future": 1e2}';
    const reply = await post(`/v1beta/models/${GEMINI}:generateContent?key=${KEY}`, body);
    expect(await reply.text()).toBe(JSON.stringify(geminiReply('Hello.')));
    expect(last().text).toBe(body);
    expect(last().url).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
  });

  it('a stream is server-sent events or one array, as the query says', async () => {
    const path = `/v1/models/${encodeURIComponent(GEMINI)}:streamGenerateContent`;
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] });
    const [events, array] = await Promise.all(
      ['?alt=sse', ''].map((query) => post(path + query, body, { 'x-goog-api-key': KEY })),
    );
    expect(events?.headers.get('content-type')).toContain('text/event-stream');
    expect(await events?.text()).toContain('data: {"candidates"');
    expect(array?.headers.get('content-type')).toBe('application/json; charset=UTF-8');
    expect(await array?.json()).toEqual([geminiReply('Hel'), geminiReply('lo.')]);
  });

  it('a field under both of its names is a 400 that names it', async () => {
    const body = JSON.stringify({ contents: [], generationConfig: {}, generation_config: {} });
    const reply = await post(`/v1beta/models/${GEMINI}:generateContent?key=${KEY}`, body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({
      error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining('generation_config') },
    });
  });

  it.each([
    [`/v1/chat/completions;key=${KEY}`, 404],
    [`/v1beta/models/${encodeURIComponent(GEMINI)};key=${KEY}:generateContent`, 400],
    [`/v1beta/models/${encodeURIComponent(GEMINI)}%3BK%65Y=${KEY}:generateContent`, 400],
    [`/v1beta/models/${encodeURIComponent(GEMINI)}%253Bkey%253D${KEY}:generateContent`, 400],
    [`/v1/responses/resp_1;key=${KEY}/cancel`, 405],
  ])('the caller’s key in the path %s is cut, and the request refused', async (path, status) => {
    const before = upstream.seen.length;
    const reply = await post(path, JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }), {
      'x-goog-api-key': KEY,
    });
    expect([reply.status, upstream.seen.length]).toEqual([status, before]);
    expect(await reply.text()).not.toContain(KEY);
  });

  it('the caller’s key as a part of the name of a model is a 400 that does not quote it', async () => {
    const body = JSON.stringify({
      model: `@studio/gemini-2.5-flash;key=${KEY}`,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const before = upstream.seen.length;
    const reply = await post('/v1/chat/completions', body, { authorization: `Bearer ${KEY}` });
    const text = await reply.text();
    expect([reply.status, upstream.seen.length, text.includes(KEY)]).toEqual([400, before, false]);
    expect(text).toContain('invalid_model');
  });

  it('the caller’s key and the entry’s are nowhere but where they belong', () => {
    for (const { url, headers, text } of upstream.seen) expect(url + JSON.stringify(headers) + text).not.toContain(KEY);
    expect(gateway.logText()).not.toContain(KEY);
    expect(gateway.logText()).not.toContain(CANARY);
  });
});
