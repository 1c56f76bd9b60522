import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, json, sse, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/** What Google's clients read beside the answer: details of errors, the forms of streams, paths of both of Google's APIs. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script;
beforeAll(async () => {
  upstream = await startUpstream((request, res) => script(request, res, 0));
  const at = { base_url: upstream.url, allow_insecure: true, api_key: '${env:NONE:-an-upstream-key}' };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'studio', provider: 'google-ai-studio', ...at, models: ['gemini-2.5-flash', 'gemini-embedding-001'] },
        { slug: 'claude', provider: 'anthropic', ...at, models: ['claude-sonnet-4-5'] },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const GEMINI = '@studio/gemini-2.5-flash';
const CLAUDE = '@claude/claude-sonnet-4-5';

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
    body: JSON.stringify(body),
  });

const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const google = (name: string, fields: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...fields });

describe('a 429 of an upstream', () => {
  const quota = google('QuotaFailure', { violations: [{ quotaId: 'PerDay-FreeTier', quotaMetric: 'm' }] });
  const wait = google('RetryInfo', { retryDelay: '34s' });

  it.each(['generateContent', 'streamGenerateContent?alt=sse'])(
    'has Google’s own details, without the project, for %s',
    async (method) => {
      const links = [{ url: 'https://console.cloud.google.com/quotas?project=secret-project-1' }];
      const details = [
        quota,
        google('ErrorInfo', { reason: 'RATE_LIMIT_EXCEEDED', metadata: { consumer: 'projects/123456789' } }),
        google('Help', { links }),
        google('DebugInfo', { detail: 'stack' }),
        wait,
      ];
      script = (_, res) =>
        json(res, { error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details } }, 429);
      const reply = await post(`/v1beta/models/${GEMINI}:${method}`, HELLO);
      const text = await reply.text();
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '34']);
      expect(JSON.parse(text)).toMatchObject({
        error: {
          status: 'RESOURCE_EXHAUSTED',
          details: [quota, { reason: 'RATE_LIMIT_EXCEEDED' }, { links: [{}] }, wait, { domain: 'gatehouse' }],
        },
      });
      expect(text).not.toMatch(/secret-project|123456789|stack/);
    },
  );

  it('of another vendor has its wait as RetryInfo', async () => {
    script = (_, res) => {
      res.setHeader('retry-after', '3');
      return json(res, { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }, 429);
    };
    const reply = await post(`/v1beta/models/${CLAUDE}:generateContent`, HELLO);
    expect(await reply.json()).toMatchObject({
      error: { code: 429, details: [{ domain: 'gatehouse' }, google('RetryInfo', { retryDelay: '3s' })] },
    });
  });
});

describe('models in Vertex AI’s form', () => {
  const client = (): GoogleGenAI =>
    new GoogleGenAI({ vertexai: true, apiKey: KEY, httpOptions: { baseUrl: gateway.url } });

  it('are listed, in pages, to Google’s client', async () => {
    const names: (string | undefined)[] = [];
    for await (const model of await client().models.list({ config: { pageSize: 2 } })) names.push(model.name);
    expect(names).toEqual(
      [CLAUDE, '@studio/gemini-2.5-flash', '@studio/gemini-embedding-001'].map(
        (id) => `publishers/google/models/${id}`,
      ),
    );
  });

  it('are found by the name that the client sends', async () => {
    for (const model of [GEMINI, CLAUDE, `publishers/google/models/${CLAUDE}`, `models/${CLAUDE}`])
      expect(await client().models.get({ model }), model).toMatchObject({ name: expect.stringMatching(/-/) });
    const missing: unknown = await client()
      .models.get({ model: '@studio/nothing' })
      .catch((error: unknown) => error);
    expect(missing).toMatchObject({ status: 404 });
  });

  it('are the same with a project in the path', async () => {
    const list = async (path: string) =>
      (await fetch(`${gateway.url}${path}`, { headers: { 'x-goog-api-key': KEY } })).json();
    const inProject = '/v1/projects/p/locations/us-central1/publishers/google/models';
    expect(await list(inProject)).toEqual(await list('/v1beta1/publishers/google/models'));
    expect(await list(`${inProject}/${GEMINI}`)).toEqual({
      name: `publishers/google/models/${GEMINI}`,
      versionId: 'default',
      displayName: 'gemini-2.5-flash',
    });
  });
});

describe('a stream of Google’s API', () => {
  const events = (count: number) =>
    [
      { type: 'message_start', message: { ...anthropicReply(''), content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...Array.from({ length: count }, () => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Hi' },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ] as const;

  it.each(['alt', '$alt', '%24alt'])('is one of server-sent events with %s=sse', async (name) => {
    script = (_, res) => sse(res, events(1));
    const reply = await post(`/v1beta/models/${CLAUDE}:streamGenerateContent?${name}=sse`, HELLO);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(await reply.text()).toMatch(/^data: /);
  });

  it('has a text in each record, as clients add the texts', async () => {
    script = (_, res) => sse(res, events(2));
    const { models } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } });
    let text = '';
    for await (const chunk of await models.generateContentStream({ model: CLAUDE, contents: 'Hi' }))
      text += String(chunk.text);
    expect(text).toBe('HiHi');
  });

  it.each(['', '?alt=json'])('has an error before its first record in an array, as its records%s', async (query) => {
    script = (_, res) => json(res, { error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }, 400);
    for (const body of [HELLO, { contents: 'x' }]) {
      const reply = await post(`/v1beta/models/${GEMINI}:streamGenerateContent${query}`, body);
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject([{ error: { code: 400, status: 'INVALID_ARGUMENT' } }]);
    }
    const plain = await post(`/v1beta/models/${GEMINI}:streamGenerateContent?alt=sse`, HELLO);
    expect(await plain.json()).toMatchObject({ error: { code: 400 } });
  });
});

describe('a key that an object has twice', () => {
  const postText = async (method: string, text: string) => {
    script = (_, res) => json(res, { totalTokens: 7 });
    const reply = await fetch(`${gateway.url}/v1beta/models/${GEMINI}:${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
      body: text,
    });
    return { status: reply.status, text: await reply.text() };
  };
  const twice = '{"maxOutputTokens":1,"maxOutputTokens":9}';

  it.each([
    ['generationConfig', 'generateContent', `{"contents":[],"generationConfig":${twice}}`],
    ['generation_config', 'generateContent', `{"contents":[],"generation_config":${twice}}`],
    ['safetySettings[0]', 'generateContent', '{"contents":[],"safetySettings":[{"category":"a","category":"b"}]}'],
    [
      'generateContentRequest.generationConfig',
      'countTokens',
      `{"generateContentRequest":{"contents":[],"generationConfig":${twice}}}`,
    ],
  ])('is refused in %s', async (param, method, body) => {
    const { status, text } = await postText(method, body);
    expect(status).toBe(400);
    expect(text).toContain(`\`${param}\``);
    expect(text).toContain('duplicate_parameter');
  });
});

describe('embeddings at Google AI Studio', () => {
  const MODEL = '@studio/gemini-embedding-001';
  const reply = '{"embedding":{"values":[0.10,0.5]},"usageMetadata":{"promptTokenCount":3},"newField":1}';

  it('of one content go to `:embedContent` as the caller wrote them, and so does the reply', async () => {
    script = (_, res) => void res.setHeader('content-type', 'application/json').end(reply);
    const body =
      '{ "content": {"parts":[{"text":"x","new":1.0}]}, "taskType": "T" ,"newSetting": 12345678901234567890 }';
    const answered = await fetch(`${gateway.url}/v1beta/models/${MODEL}:embedContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
      body,
    });
    expect([answered.status, await answered.text()]).toEqual([200, reply]);
    const { url, text } = upstream.seen.at(-1)!;
    expect(url).toBe('/v1beta/models/gemini-embedding-001:embedContent');
    expect(text.replace('"model":"models/gemini-embedding-001",', '')).toBe(body);
  });

  it('have the upstream’s name of the model where the body repeats the caller’s', async () => {
    script = (_, res) => void res.setHeader('content-type', 'application/json').end(reply);
    const content = { parts: [{ text: 'x' }] };
    await post(`/v1beta/models/${MODEL}:embedContent`, { model: `models/${MODEL}`, content });
    expect(upstream.seen.at(-1)!.json).toEqual({ model: 'models/gemini-embedding-001', content });
  });

  it('keep settings of their own in a batch', async () => {
    script = (_, res) => json(res, { embeddings: [{ values: [1] }, { values: [2] }] });
    const requests = ['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT'].map((taskType) => ({
      content: { parts: [{ text: 'x' }] },
      taskType,
    }));
    const batch = await post(`/v1beta/models/${MODEL}:batchEmbedContents`, { requests });
    expect(batch.status).toBe(200);
    expect(upstream.seen.at(-1)!.json).toMatchObject({ requests });
  });
});

describe('a count of instances in Vertex AI’s form', () => {
  const path = (model: string): string => `/v1/projects/p/locations/l/publishers/google/models/${model}:countTokens`;

  it('is one of their texts, at each target', async () => {
    const instances = [{ content: 'one' }, { prompt: 'two' }];
    for (const model of [GEMINI, CLAUDE]) {
      script = ({ url }, res) => json(res, url.includes('count_tokens') ? { input_tokens: 7 } : { totalTokens: 7 });
      const counted = await post(path(model), { instances });
      expect([counted.status, await counted.json()]).toMatchObject([200, { totalTokens: 7 }]);
      expect(upstream.seen.at(-1)!.text).toMatch(/"one".*"two"/);
      expect(upstream.seen.at(-1)!.text).not.toContain('instances');
    }
  });

  it.each([
    [[{ content: 'x' }, { image: {} }], 'instances[1]'],
    [[7], 'instances[0]'],
    [[], 'contents'],
    ['x', 'contents'],
  ])('is refused without texts: %j', async (instances, param) => {
    const refused = await post(path(GEMINI), { instances });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining(param) } },
    ]);
  });
});
