import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenAIEmbeddings } from '@langchain/openai';
import { createOpenAI } from '@ai-sdk/openai';
import { embedMany } from 'ai';
import OpenAI, { BadRequestError, InternalServerError, RateLimitError } from 'openai';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { serviceAccountJson } from '../../src/core/providers/setup.testkit.ts';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, type Script, type ScriptedUpstream, type SeenRequest } from '../support/upstream.ts';

/** Embeddings from the clients people use to Vertex AI and to servers of OpenAI's API. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

const TOKEN = 'ya29.caller';

async function start(script: Script, settings: Omit<TestSettings, 'catalog'> = {}, entry: object = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, (url) => {
    const here = { base_url: url, allow_insecure: true };
    const vertex = { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1', ...here };
    return {
      ...settings,
      options: { env: { KEY: 'azure-key' } },
      catalog: {
        providers: [
          {
            slug: 'vertex',
            ...vertex,
            endpoints: {
              mine: { id: '42', method: 'predict' },
              raw: { id: '43', method: 'raw_predict', model: 'BAAI/bge-m3' },
              chat: { id: '44' },
            },
            ...entry,
          },
          { slug: 'openai', provider: 'openai', ...here, base_url: `${url}/v1` },
          { slug: 'responses', provider: 'openai', api: 'responses', ...here, base_url: `${url}/v1` },
          {
            slug: 'azure',
            provider: 'azure-openai',
            api_key: '${env:KEY}',
            api_version: '2024-10-21',
            deployments: { 'text-embedding-3-small': 'prod-small' },
            ...here,
          },
        ],
      },
    };
  }));
}

const headers = { 'x-gateway-api-key': KEY, authorization: `Bearer ${TOKEN}` };

const openai = (more: object = {}) =>
  new OpenAI({
    apiKey: TOKEN,
    baseURL: `${gateway.url}/v1`,
    defaultHeaders: { 'x-gateway-api-key': KEY },
    maxRetries: 0,
    ...more,
  });

const post = (body: object | string, more: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...more },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly param: string | null;
    readonly type: string;
    readonly message: string;
  };
}
const errorOf = async (response: Response): Promise<ErrorBody['error']> => ((await response.json()) as ErrorBody).error;

interface Instance {
  readonly content: string;
}
const contentsOf = ({ json: body }: SeenRequest): readonly string[] =>
  (body['instances'] as Instance[]).map(({ content }) => content);

/** A vector that tells which text it is of: `t7` → [7, 0.5]. */
const vectorOf = (text: string): number[] => [Number(text.slice(1)), 0.5];
const prediction = (text: string) => ({
  embeddings: { values: vectorOf(text), statistics: { truncated: false, token_count: 3 } },
});
const predict: Script = (request, res) => json(res, { predictions: contentsOf(request).map(prediction) });
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);

const google = (code: number, status: string) => ({ error: { code, message: `no ${status}`, status } });

async function metrics(): Promise<string> {
  return (await fetch(`${gateway.statusUrl}/metrics`)).text();
}

describe('embeddings on Vertex AI', () => {
  it('reach the OpenAI SDK, which asks for base64 unless told otherwise', async () => {
    await start(predict);
    const input = ['t1', 't2'];
    const params = { model: '@vertex/text-embedding-005', input, dimensions: 2 };
    const reply = await openai().embeddings.create(params);
    expect(reply).toEqual({
      object: 'list',
      model: 'text-embedding-005',
      data: [
        { object: 'embedding', index: 0, embedding: [1, 0.5] },
        { object: 'embedding', index: 1, embedding: [2, 0.5] },
      ],
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
    const [seen] = upstream.seen;
    expect(seen!.url).toBe(
      '/v1/projects/test-project/locations/us-central1/publishers/google/models/text-embedding-005:predict',
    );
    expect(seen!.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(seen!.json).toEqual({
      instances: [{ content: 't1' }, { content: 't2' }],
      parameters: { outputDimensionality: 2 },
    });
    const asFloats = await openai().embeddings.create({ ...params, encoding_format: 'float' });
    expect(asFloats.data).toEqual(reply.data);
    await expect(metrics()).resolves.toMatch(
      /gatehouse_tokens_total\{[^}]*provider="vertex"[^}]*operation="embeddings"[^}]*type="input"[^}]*\} 12/,
    );
  });

  it('reach LangChain', async () => {
    await start(predict);
    const langchain = new OpenAIEmbeddings({
      model: '@vertex/text-embedding-005',
      apiKey: TOKEN,
      batchSize: 300,
      maxRetries: 0,
      configuration: { baseURL: `${gateway.url}/v1`, defaultHeaders: { 'x-gateway-api-key': KEY } },
    });
    expect(await langchain.embedDocuments(texts(300))).toEqual(texts(300).map(vectorOf));
    expect(await langchain.embedQuery('t7')).toEqual([7, 0.5]);
    expect(upstream.seen.map((request) => contentsOf(request).length).toSorted((a, b) => a - b)).toEqual([1, 50, 250]);
  });

  it('reach the AI SDK', async () => {
    await start(predict);
    const provider = createOpenAI({
      apiKey: TOKEN,
      baseURL: `${gateway.url}/v1`,
      headers: { 'x-gateway-api-key': KEY },
    });
    const { embeddings, usage } = await embedMany({
      model: provider.embedding('@vertex/gemini-embedding-001'),
      values: ['t1', 't2', 't3'],
      maxRetries: 0,
    });
    expect(embeddings).toEqual([1, 2, 3].map((number) => [number, 0.5]));
    expect(usage.tokens).toBe(9);
    expect(upstream.seen).toHaveLength(3);
  });

  it('keep the order of the input, in whatever order the calls end', async () => {
    const waiting: (() => void)[] = [];
    // Each answer waits until all eight that may be under way are there, and leaves last come first served.
    await start(async (request, res) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 8) for (const go of waiting.splice(0).toReversed()) go();
      });
      void predict(request, res, 0);
    });
    const { data } = await openai().embeddings.create({ model: '@vertex/gemini-embedding-001', input: texts(24) });
    expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(texts(24).map((_, at) => [at, at]));
  });

  it('of gemini-embedding-2 are asked for one by one', async () => {
    await start((request, res) => {
      const { content } = request.json as { content: { parts: { text: string }[] } };
      json(res, { embedding: { values: vectorOf(content.parts[0]!.text) }, usageMetadata: { promptTokenCount: 4 } });
    });
    const { data, usage } = await openai().embeddings.create({
      model: '@vertex/gemini-embedding-2',
      input: ['t1', 't2'],
    });
    expect([data.map(({ embedding }) => embedding), usage.prompt_tokens]).toEqual([
      [
        [1, 0.5],
        [2, 0.5],
      ],
      8,
    ]);
    expect(upstream.seen[0]!.url).toMatch(/publishers\/google\/models\/gemini-embedding-2:embedContent$/);
  });

  it('of images come beside those of their text', async () => {
    await start((_, res) => json(res, { predictions: [{ textEmbedding: [1], imageEmbedding: [2] }] }));
    const response = await post({
      model: '@vertex/multimodalembedding@001',
      input: { text: 'a', image: { url: 'gs://b/i.png' } },
    });
    expect(await response.json()).toMatchObject({ data: [{ embedding: [1], image_embedding: [2] }] });
  });

  it('say what the target could not express, or are refused where the caller wants that', async () => {
    await start(predict);
    const body = { model: '@vertex/text-embedding-005', input: 't1', user: 'u', late_chunking: true };
    const response = await post(body);
    expect([response.status, response.headers.get('x-gateway-dropped-params')]).toEqual([200, 'user,late_chunking']);
    const refused = await post(body, { 'x-gateway-strict-params': 'true' });
    expect([refused.status, (await errorOf(refused)).param]).toEqual([400, 'user']);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each<[string, object, string | null, string]>([
    ['tokens', { input: [1, 2] }, 'input', 'invalid_value'],
    ['lists of tokens', { input: [[1], [2]] }, 'input', 'invalid_value'],
    ['an empty list', { input: [] }, 'input', 'invalid_request'],
    ['an empty text', { input: ['a', ''] }, 'input[1]', 'invalid_value'],
    ['no input', {}, 'input', 'missing_required_parameter'],
    ['a number', { input: 7 }, 'input', 'invalid_request'],
    ['true in a list', { input: [true] }, 'input[0]', 'invalid_request'],
    ['text for dimensions', { input: 'a', dimensions: '7' }, 'dimensions', 'invalid_request'],
    ['a chat model', { input: 'a', model: '@vertex/gemini-2.5-flash' }, 'model', 'unsupported_task'],
    ['Claude', { input: 'a', model: '@vertex/anthropic.claude-sonnet-4-5@20250929' }, 'model', 'unsupported_task'],
    ['an endpoint for chat', { input: 'a', model: '@vertex/endpoints.chat' }, 'model', 'unsupported_task'],
  ])('refuse %s', async (_, body, param, code) => {
    await start(predict);
    const response = await post({ model: '@vertex/text-embedding-005', ...body });
    expect([response.status, await errorOf(response)]).toMatchObject([
      400,
      { type: 'invalid_request_error', param, code },
    ]);
    expect(upstream.seen).toHaveLength(0);
  });

  it('take a body that is too large to be checked on the way in, and check it then', async () => {
    await start(predict);
    const long = 'x'.repeat(100_000);
    const response = await post({ model: '@vertex/text-embedding-005', input: ['t1', long], dimensions: '7' });
    expect([response.status, (await errorOf(response)).param]).toEqual([400, 'dimensions']);
  });

  it('of a deployed model have Google’s shape, or are asked for in OpenAI’s by raw_predict', async () => {
    await start((request, res) =>
      request.url.endsWith(':rawPredict')
        ? json(res, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [7] }] })
        : void predict(request, res, 0),
    );
    const mine = await post({ model: '@vertex/endpoints.mine', input: 't1' });
    expect(await mine.json()).toMatchObject({ data: [{ embedding: [1, 0.5] }], model: '42' });
    const raw = await post({ model: '@vertex/endpoints.raw', input: 't1', stream: true, normalize: true });
    expect(await raw.json()).toMatchObject({ data: [{ embedding: [7] }] });
    const place = '/v1/projects/test-project/locations/us-central1/endpoints';
    expect(upstream.seen.map(({ url, json: body }) => [url, body])).toEqual([
      [`${place}/42:predict`, { instances: [{ content: 't1' }] }],
      [`${place}/43:rawPredict`, { model: 'BAAI/bge-m3', input: 't1', normalize: true }],
    ]);
  });

  it('are kept by the cache', async () => {
    await start(predict, {
      server: { default_config: 'cached' },
      gateway: { cached: { cache: { mode: 'exact', max_age: 60 } } },
    });
    const ask = () => post({ model: '@vertex/gemini-embedding-001', input: ['t1', 't2'] });
    const [first, second] = [await ask(), await ask()];
    expect([first, second].map(({ headers: sent }) => sent.get('x-gateway-cache-status'))).toEqual(['MISS', 'HIT']);
    expect(await second.text()).toBe(await first.text());
    expect(upstream.seen).toHaveLength(2);
  });
});

describe('a request that takes several calls', () => {
  const model = '@vertex/gemini-embedding-001';
  const retrying = {
    server: { default_config: 'retrying' },
    gateway: {
      retrying: { retry: { attempts: 2, on_status_codes: [429, 502, 503], min_delay: '1ms', max_delay: '2ms' } },
    },
  };

  it('has no more under way than it may', async () => {
    let open = 0;
    let most = 0;
    await start(
      async (request, res) => {
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open -= 1;
        void predict(request, res, 0);
      },
      {},
      { embeddings: { parallel_calls: 3 } },
    );
    await openai().embeddings.create({ model, input: texts(20) });
    expect([most <= 3, upstream.seen.length]).toEqual([true, 20]);
  });

  it('has no more under way than the entry has connections', async () => {
    await start(predict, {}, { connections: 2, timeouts: { connect: '5s' } });
    const { data } = await openai().embeddings.create({ model, input: texts(10) });
    expect([data.length, upstream.sockets.size <= 2]).toEqual([10, true]);
  });

  it('asks only for what is missing when it is retried, and counts no call as a retry of another', async () => {
    const asked = new Map<string, number>();
    await start(
      (request, res) => {
        const [text = ''] = contentsOf(request);
        const times = (asked.get(text) ?? 0) + 1;
        asked.set(text, times);
        if (text === 't3' && times === 1) json(res, google(503, 'UNAVAILABLE'), 503);
        else void predict(request, res, 0);
      },
      retrying,
      // One after the other, so that it is known which were answered.
      { embeddings: { parallel_calls: 1 } },
    );
    const response = await post({ model, input: texts(6) });
    expect(
      ((await response.json()) as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding),
    ).toEqual(texts(6).map(vectorOf));
    expect(Object.fromEntries(asked)).toEqual({ t0: 1, t1: 1, t2: 1, t3: 2, t4: 1, t5: 1 });
    expect(response.headers.get('x-gateway-retry-attempt-count')).toBe('1');
    await expect(metrics()).resolves.toMatch(/gatehouse_tokens_total\{[^}]*type="input"[^}]*\} 18/);
  });

  it('is retried once when one of its calls fails, however many had to be given up', async () => {
    let failed = false;
    await start((request, res) => {
      if (failed) void predict(request, res, 0);
      else if (contentsOf(request)[0] === 't5') {
        failed = true;
        json(res, google(503, 'UNAVAILABLE'), 503);
      }
      // The others never answer.
    }, retrying);
    const response = await post({ model, input: texts(8) });
    expect([response.status, response.headers.get('x-gateway-retry-attempt-count')]).toEqual([200, '1']);
    await expect(metrics()).resolves.toMatch(/gatehouse_upstream_retries_total\{provider="vertex",[^}]*\} 1\n/);
  });

  it('gets one new token when all its calls are refused for an old one', async () => {
    const token = (number: number) => ({ access_token: `token-${number}`, expires_in: 3599, token_type: 'Bearer' });
    let minted = 0;
    let refused = 'none';
    let ahead = 0;
    const script: Script = (request, res) => {
      if (request.url === '/token') return json(res, token((minted += 1)));
      if (request.headers.authorization === refused) return json(res, google(401, 'UNAUTHENTICATED'), 401);
      return predict(request, res, 0);
    };
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + ahead,
      wall: () => systemClock.wall() + ahead,
    };
    ({ upstream, gateway } = await startPair(script, (url) => ({
      server: { egress: { token_uris: [`${url}/token`] } },
      catalog: {
        providers: [
          {
            slug: 'vertex',
            provider: 'vertex-ai',
            region: 'us-central1',
            service_account: '${env:ACCOUNT}',
            base_url: url,
            allow_insecure: true,
          },
        ],
      },
      options: { env: { ACCOUNT: serviceAccountJson({ token_uri: `${url}/token` }) }, clock },
    })));
    const ask = () => openai({ apiKey: KEY }).embeddings.create({ model, input: texts(20) });
    await ask();
    refused = 'Bearer token-1';
    ahead = 60_000;
    const { data } = await ask();
    expect([data.length, minted]).toEqual([20, 2]);
  });

  it('asks again for what cannot be read', async () => {
    let broken = true;
    await start((request, res) => {
      const [text] = contentsOf(request);
      if (text === 't1' && broken) {
        broken = false;
        json(res, { predictions: [] });
      } else void predict(request, res, 0);
    }, retrying);
    const { data } = await openai().embeddings.create({ model, input: texts(3) });
    expect(data.map(({ embedding }) => embedding)).toEqual(texts(3).map(vectorOf));
  });

  it.each<[string, object | string]>([
    ['too few predictions', { predictions: [] }],
    ['a vector that is not there', { predictions: [{ embeddings: { values: [] } }] }],
    ['a vector of another length', { predictions: [{ embeddings: { values: [1] } }] }],
    ['half of its JSON', '{"predictions":[{"embeddings":{"values":[1,'],
  ])('is a 502 when a reply has %s', async (_, broken) => {
    await start((request, res) => {
      if (contentsOf(request)[0] !== 't1') void predict(request, res, 0);
      else
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(typeof broken === 'string' ? broken : JSON.stringify(broken));
    });
    const failure = openai().embeddings.create({ model, input: texts(3) });
    await expect(failure).rejects.toBeInstanceOf(InternalServerError);
    await expect(failure).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
  });

  it('fails as its first failing call does, and gives up the others', async () => {
    await start((request, res) => {
      if (contentsOf(request)[0] === 't2') json(res, google(429, 'RESOURCE_EXHAUSTED'), 429, { 'retry-after': '7' });
      // The others never answer.
    });
    const failure = openai().embeddings.create({ model, input: texts(30) });
    await expect(failure).rejects.toBeInstanceOf(RateLimitError);
    await until(
      () => upstream.seen.filter(({ aborted }) => aborted).length === upstream.seen.length - 1,
      'all are given up',
    );
    expect(upstream.seen.length).toBeLessThanOrEqual(8);
  });

  it('tells what the upstream refused', async () => {
    await start((_, res) => json(res, google(400, 'INVALID_ARGUMENT'), 400));
    await expect(openai().embeddings.create({ model, input: texts(2) })).rejects.toSatisfy(
      (error) => error instanceof BadRequestError && error.message.includes('no INVALID_ARGUMENT'),
    );
  });

  it('gives up all calls when its client leaves', async () => {
    await start(() => {});
    const controller = new AbortController();
    const failure = openai().embeddings.create({ model, input: texts(30) }, { signal: controller.signal });
    await until(() => upstream.seen.length === 8, 'eight calls are under way');
    controller.abort();
    await expect(failure).rejects.toThrow();
    await until(() => upstream.seen.every(({ aborted }) => aborted), 'all are given up');
    expect(upstream.seen).toHaveLength(8);
  });

  it('has one deadline for all its calls', async () => {
    await start(
      (request, res) => {
        if (contentsOf(request)[0] === 't0') void predict(request, res, 0);
      },
      {},
      { timeouts: { total: '1s' }, embeddings: { parallel_calls: 1 } },
    );
    await expect(openai().embeddings.create({ model, input: texts(5) })).rejects.toMatchObject({
      status: 504,
      code: 'timeout_total',
    });
    expect(upstream.seen).toHaveLength(2);
  });

  it('goes whole to the next target when a call fails', async () => {
    await start(
      (request, res) => {
        if (request.url === '/v1/embeddings')
          json(res, { data: texts(6).map((text, index) => ({ index, embedding: [9, ...vectorOf(text)] })) });
        else if (contentsOf(request)[0] === 't3') json(res, google(503, 'UNAVAILABLE'), 503);
        else void predict(request, res, 0);
      },
      {
        server: { default_config: 'two' },
        gateway: {
          two: {
            strategy: { mode: 'fallback' },
            targets: [
              { provider: '@vertex', override_params: { model: 'gemini-embedding-001' } },
              { provider: '@openai', override_params: { model: 'bge-m3' } },
            ],
          },
        },
      },
    );
    const response = await post({ model: 'any', input: texts(6) });
    const { data } = (await response.json()) as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding)).toEqual(texts(6).map((text) => [9, ...vectorOf(text)]));
    const asked = upstream.seen.find(({ url }) => url === '/v1/embeddings');
    expect(asked!.json).toEqual({ model: 'bge-m3', input: texts(6) });
  });

  it('holds no more of its replies than limits.reply, all retries together', async () => {
    await start(predict, { ...retrying, server: { ...retrying.server, limits: { reply: '1KiB' } } });
    await expect(openai().embeddings.create({ model, input: texts(100) })).rejects.toMatchObject({
      status: 502,
      code: 'reply_too_large',
    });
    // Some fifteen replies fit in; after that each retry ends with its first.
    expect(upstream.seen.length).toBeLessThan(50);
  });
});

const ODD = (model: string): string =>
  `{ "input":[ "Gr\\u00fc\\u00dfe 🌍","b"],\n "model" : ${JSON.stringify(model)} ,"late_chunking":true, "x":12345678901234567890123,"dimensions":2.0e0 }`;
const REPLY =
  '{"object":"list", "data":[{"object":"embedding","index":0,"embedding":[1.0, 2e-1],"x_note":null}],\n' +
  '"model":"m", "usage":{"prompt_tokens":7,"total_tokens":7},"meta":{"ms":1.50}}\n';

describe('a request without anything to embed', () => {
  it.each(['openai', 'responses', 'azure', 'vertex'])(
    'is refused before it reaches @%s, in the shape of its API',
    async (slug) => {
      await start((_, res) => json(res, { object: 'list', data: [] }));
      const reply = await post({ model: `@${slug}/text-embedding-3-small`, input: [] });
      expect([reply.status, await errorOf(reply)]).toEqual([
        400,
        expect.objectContaining({ param: 'input', message: '`input` is empty: it needs at least one entry.' }),
      ]);
      const ofGemini = await fetch(
        `${gateway.url}/v1beta/models/@${slug}%2Ftext-embedding-3-small:batchEmbedContents`,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ requests: [] }),
        },
      );
      expect([ofGemini.status, await ofGemini.json()]).toMatchObject([
        400,
        {
          error: {
            code: 400,
            status: 'INVALID_ARGUMENT',
            message: '`requests` is empty: it needs at least one entry.',
          },
        },
      ]);
      expect(upstream.seen).toEqual([]);
    },
  );
});

describe('embeddings of a server that speaks OpenAI’s API', () => {
  it.each([
    ['@openai/BAAI/bge-m3', 'BAAI/bge-m3', '/v1/embeddings'],
    ['@azure/text-embedding-3-small', 'prod-small', '/openai/deployments/prod-small/embeddings?api-version=2024-10-21'],
  ])('of %s pass to the byte but for the model’s name', async (model, name, path) => {
    await start((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(REPLY));
    const response = await post(ODD(model));
    expect([response.status, await response.text()]).toEqual([200, REPLY]);
    const [seen] = upstream.seen;
    expect([seen!.url, seen!.text]).toEqual([path, ODD(name)]);
    await expect(metrics()).resolves.toMatch(
      /gatehouse_tokens_total\{[^}]*operation="embeddings"[^}]*type="input"[^}]*\} 7/,
    );
  });

  it('take tokens, and base64 as the SDK wants it', async () => {
    await start((request, res) => {
      const embedding = request.json['encoding_format'] === 'base64' ? 'AACAPwAAAEA=' : [1, 2];
      json(res, { object: 'list', data: [{ object: 'embedding', index: 0, embedding }], model: 'm' });
    });
    const { data } = await openai().embeddings.create({ model: '@openai/m', input: [1, 2, 3] });
    expect(data[0]!.embedding).toEqual([1, 2]);
    expect(upstream.seen[0]!.json).toEqual({ model: 'm', input: [1, 2, 3], encoding_format: 'base64' });
  });

  it('have the parameters of their config', async () => {
    await start((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(REPLY), {
      gateway: { short: { provider: '@openai', override_params: { dimensions: 64 }, drop_params: ['user'] } },
    });
    await post({ model: 'm', input: 'a', user: 'u' }, { 'x-gateway-config': 'short' });
    expect(upstream.seen[0]!.json).toEqual({ model: 'm', input: 'a', dimensions: 64 });
  });

  it.each(['/v1/embeddings', '/v1/moderations'])(
    'at %s have no stream: the field is left out and reported',
    async (path) => {
      // A server that takes the field answers with events.
      await start((request, res) => {
        if (request.json['stream'] === true)
          return void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${REPLY}\n\n`);
        return json(res, { model: 'm', data: [{ embedding: [1] }], results: [{ flagged: false }] });
      });
      const reply = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model: '@openai/m', input: 'a', stream: true, stream_options: null }),
      });
      expect([reply.status, reply.headers.get('x-gateway-dropped-params')]).toEqual([200, 'stream']);
      expect(upstream.seen[0]!.json).toEqual({ model: 'm', input: 'a' });
    },
  );

  it.each<[string, string]>([
    ['nothing', ''],
    ['half of its JSON', REPLY.slice(0, 60)],
    ['no list', '{"object":"list"}'],
    ['an empty list', '{"object":"list","data":[]}'],
    ['an entry without a vector', '{"data":[{"embedding":[1]},{"index":1}]}'],
    ['HTML', '<html>'],
  ])('are a 502 when the reply is %s', async (_, text) => {
    await start((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(text));
    const response = await post({ model: '@openai/m', input: 'a', stream: true });
    expect([response.status, (await errorOf(response)).code]).toEqual([502, 'upstream_error']);
  });

  it('are the error that the server tells, whatever its status', async () => {
    const error = { message: 'slow down', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' };
    await start((_, res, index) => json(res, { error }, index === 0 ? 429 : 200));
    for (let time = 0; time < 2; time += 1) {
      const response = await post({ model: '@openai/m', input: 'a' });
      expect([response.status, (await errorOf(response)).message]).toEqual([429, 'slow down']);
    }
  });
});

/** Recorded at OpenAI, where they lie beside the checkout: no part of the project. */
const RECORDINGS = join(import.meta.dirname, '../../../shared/corpus/dev/openai-embeddings.jsonl');

interface Recording {
  readonly id: string;
  readonly request_body: { readonly model: string } | null;
  readonly response_status: number;
  readonly response_body: { readonly error?: { readonly message: string } };
}

describe.skipIf(!existsSync(RECORDINGS))('embeddings recorded at OpenAI', () => {
  it('pass unchanged both ways, and their errors keep status and words', async () => {
    const recordings = readFileSync(RECORDINGS, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Recording)
      .filter(({ request_body: body }) => body !== null);
    await start((_, res, index) => {
      const { response_body: body, response_status: status } = recordings[index]!;
      json(res, body, status);
    });
    expect(recordings.length).toBeGreaterThan(0);
    for (const [index, { id, request_body: asked, response_body: answered, response_status }] of recordings.entries()) {
      const response = await post({ ...asked, model: `@openai/${asked!.model}` });
      const got = (await response.json()) as Recording['response_body'];
      expect([id, upstream.seen[index]!.json]).toEqual([id, asked]);
      expect([id, response.status]).toEqual([id, response_status]);
      if (answered.error) expect([id, got.error?.message]).toEqual([id, answered.error.message]);
      else expect([id, got]).toEqual([id, answered]);
    }
  });
});
