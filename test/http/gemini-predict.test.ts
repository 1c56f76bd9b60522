import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Vertex AI's `:predict` for embeddings, as Google's older SDKs and LangChain's VertexAIEmbeddings send it. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body, text }, res) => {
    if (text.includes('refuse me'))
      return json(res, { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } }, 429);
    if (url.includes(':predict')) {
      const predictions = (body['instances'] as { content?: string }[]).map(({ content }) =>
        content === undefined
          ? { textEmbedding: [1], imageEmbedding: [2] }
          : { embeddings: { values: [content.length, 0.5], statistics: { truncated: false, token_count: 2 } } },
      );
      return json(res, { predictions, metadata: { billableCharacterCount: 4 } });
    }
    if (url.includes(':embedContent'))
      return json(res, { embedding: { values: [7] }, usageMetadata: { promptTokenCount: 3 }, truncated: true });
    if (url.includes(':batchEmbedContents'))
      return json(res, { embeddings: (body['requests'] as unknown[]).map((_, at) => ({ values: [at] })) });
    const data = (body['input'] as unknown[]).map((_, index) => ({ object: 'embedding', index, embedding: [index] }));
    return json(res, {
      object: 'list',
      model: 'te-3',
      data: data.toReversed(),
      usage: { prompt_tokens: 5, total_tokens: 5 },
    });
  });
  const at = { base_url: upstream.url, allow_insecure: true };
  const vertex = { provider: 'vertex-ai', project_id: 'own-project', region: 'us-central1', ...at };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'vertex', ...vertex },
        { slug: 'studio', provider: 'google-ai-studio', api_key: '${env:NONE:-AIza-key}', ...at },
        { slug: 'openai', provider: 'openai', ...at, base_url: `${upstream.url}/v1`, extensions: 'drop' },
        { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-claude-key}', ...at },
      ],
      aliases: { embedder: { target: '@openai/te-3' } },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function predict(path: string, body: object | string) {
  const before = upstream.seen.length;
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': KEY, authorization: 'Bearer ya29.caller', 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    text,
    body: JSON.parse(text) as Record<string, unknown>,
    lost: reply.headers.get('x-gateway-dropped-params'),
    sent: upstream.seen.slice(before),
  };
}

const at = (model: string): string => `/v1/publishers/google/models/${model}:predict`;
const ONE = { instances: [{ content: 'Hi' }] };
const MODEL = 'text-embedding-005';

describe('a prediction of Vertex AI', () => {
  it.each([
    `/v1/projects/p/locations/l/publishers/google/models/${MODEL}:predict`,
    `/v1beta1/projects/p/locations/l/publishers/google/models/${MODEL}:predict`,
    at(MODEL),
    at(`@vertex/${MODEL}`),
    at(`%40vertex%2F${MODEL}`),
    `/v1/publishers/@vertex/models/${MODEL}:predict`,
    `/v1beta/models/@vertex/${MODEL}:predict`,
    `/v1beta/@vertex/${MODEL}:predict`,
  ])('passes as the caller’s and the upstream’s bytes: %s', async (path) => {
    // The gateway itself would write neither the spaces nor fields that it does not know.
    const body =
      '{ "instances": [ {"content": "Hi", "task_type": "CLUSTERING", "x": 1e2} ],  "parameters": {"y": null} }';
    const { status, text, sent } = await predict(path, body);
    expect([status, sent.map(({ url }) => url)]).toEqual([
      200,
      [`/v1/projects/own-project/locations/us-central1/publishers/google/models/${MODEL}:predict`],
    ]);
    expect(sent[0]!.text).toBe(body);
    expect(text).toBe(
      '{"predictions":[{"embeddings":{"values":[2,0.5],"statistics":{"truncated":false,"token_count":2}}}],"metadata":{"billableCharacterCount":4}}',
    );
    expect(gateway.logs.at(-1)).toMatchObject({ provider: 'vertex', tokens: { input: 2, output: 0 } });
  });

  it.each([
    [
      'several instances for a model of one',
      'gemini-embedding-001',
      { instances: [{ content: 'a' }, { content: 'bc' }] },
    ],
    [
      'media',
      'multimodalembedding@001',
      { instances: [{ text: 'a', image: { gcsUri: 'gs://b/o.png' } }], parameters: { dimension: 128 } },
    ],
  ])('is one call with its own body: %s', async (_, model, body) => {
    const { status, sent, lost } = await predict(at(model), { ...body, model });
    expect([status, lost, sent.map((one) => one.json)]).toEqual([200, null, [body]]);
  });

  it('passes the upstream’s refusal in Google’s shape', async () => {
    const { status, body } = await predict(at(MODEL), { instances: [{ content: 'refuse me' }] });
    expect([status, body]).toMatchObject([429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }]);
  });
});

describe('a prediction at another API', () => {
  const FULL = {
    instances: [
      { content: 'a', task_type: 'RETRIEVAL_DOCUMENT', title: 'T' },
      { content: 'b', taskType: 'RETRIEVAL_DOCUMENT', title: 'T' },
    ],
    parameters: { outputDimensionality: 64, auto_truncate: false },
  };
  const statistics = (tokens: number, truncated = false) => ({ truncated, token_count: tokens });

  it.each<[string, string, object, string | null, object[]]>([
    [
      'of OpenAI',
      '@openai/te-3',
      { model: 'te-3', input: ['a', 'b'], dimensions: 64, encoding_format: 'float' },
      'instances[0].task_type,instances[0].title,parameters.autoTruncate',
      [
        { embeddings: { values: [0], statistics: statistics(5) } },
        { embeddings: { values: [1], statistics: statistics(0) } },
      ],
    ],
    [
      'of Google AI Studio',
      '@studio/gemini-embedding-001',
      {
        requests: ['a', 'b'].map((text) => ({
          model: 'models/gemini-embedding-001',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_DOCUMENT',
          title: 'T',
          outputDimensionality: 64,
        })),
      },
      'parameters.autoTruncate',
      [
        { embeddings: { values: [0], statistics: statistics(0) } },
        { embeddings: { values: [1], statistics: statistics(0) } },
      ],
    ],
    [
      'of Vertex AI with another method',
      '@vertex/gemini-embedding-2',
      {
        content: { parts: [{ text: 'a' }] },
        embedContentConfig: {
          taskType: 'RETRIEVAL_DOCUMENT',
          title: 'T',
          outputDimensionality: 64,
          autoTruncate: false,
        },
      },
      null,
      [
        { embeddings: { values: [7], statistics: statistics(6, true) } },
        { embeddings: { values: [7], statistics: statistics(0, true) } },
      ],
    ],
  ])('%s gets its embeddings, and the reply has Google’s form', async (_, model, expected, lost, predictions) => {
    const reply = await predict(at(model), FULL);
    expect([reply.status, reply.body]).toEqual([200, { predictions }]);
    expect(reply.sent[0]!.json).toEqual(expected);
    expect(reply.lost?.split(/, ?/).toSorted().join(',') ?? null).toBe(lost);
  });

  it('may be named by an alias', async () => {
    expect((await predict(at('embedder'), ONE)).sent[0]!.json).toMatchObject({ model: 'te-3', input: ['Hi'] });
  });

  it('reports fields that it does not take', async () => {
    const body = { instances: [{ content: 'a', mimeType: 'text/plain' }], parameters: { x: 1 }, labels: { a: 'b' } };
    const { lost } = await predict(at('@openai/te-3'), body);
    expect(lost?.split(/, ?/).toSorted()).toEqual(['instances[0].mimeType', 'labels', 'parameters.x']);
  });

  it.each<[string, string, object, string]>([
    ['without instances', '@openai/te-3', {}, 'instances'],
    ['with no instance', '@openai/te-3', { instances: [] }, 'instances'],
    ['without a text', '@openai/te-3', { instances: [{}] }, 'instances[0].content'],
    ['with an empty text', '@openai/te-3', { instances: [{ content: 'a' }, { content: '' }] }, 'instances[1].content'],
    ['with a content of Gemini’s', '@openai/te-3', { instances: [{ content: { parts: [] } }] }, 'instances[0].content'],
    ['with a picture', '@openai/te-3', { instances: [{ image: { gcsUri: 'gs://b/o.png' } }] }, 'instances[0].image'],
    [
      'with the text of the multimodal model',
      '@studio/gemini-embedding-001',
      { instances: [{ text: 'a' }] },
      'instances[0].text',
    ],
    ['for a picture of Imagen', '@openai/te-3', { instances: [{ prompt: 'A cat' }] }, 'instances[0].prompt'],
    [
      'with two task types',
      '@openai/te-3',
      {
        instances: [
          { content: 'a', task_type: 'CLUSTERING' },
          { content: 'b', task_type: 'CLASSIFICATION' },
        ],
      },
      'instances[1].task_type',
    ],
    [
      'with a field in both spellings',
      '@vertex/text-embedding-005',
      { instances: [{ content: 'a', taskType: 'A', task_type: 'B' }] },
      'instances[0].task_type',
    ],
    ['for a model without embeddings', '@claude/claude-sonnet-4-5', ONE, 'claude-sonnet-4-5'],
    ['for a model of Imagen', '@vertex/imagen-4.0', ONE, 'imagen-4.0'],
    ['for a publisher’s other model', '@vertex/meta.llama-4', ONE, 'llama-4'],
  ])('%s is a 400 in Google’s shape, and nothing is sent', async (_, model, body, named) => {
    const reply = await predict(at(model), body);
    expect(reply.body).toMatchObject({
      error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining(named) },
    });
    expect([reply.status, reply.sent]).toEqual([400, []]);
  });
});
