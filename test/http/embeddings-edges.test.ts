import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, type Script, type ScriptedUpstream, type SeenRequest } from '../support/upstream.ts';

/** Embeddings at their bounds: sizes, numbers, broken calls, and what a config does to a body. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

async function start(script: Script, settings: Omit<TestSettings, 'catalog'> = {}, entry: object = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, (base_url) => ({
    ...settings,
    options: { env: { EXPRESS: 'express-key' } },
    catalog: {
      providers: [
        {
          slug: 'vertex',
          provider: 'vertex-ai',
          project_id: 'test-project',
          region: 'us-central1',
          base_url,
          allow_insecure: true,
          ...entry,
        },
        { slug: 'express', provider: 'vertex-ai', api_key: '${env:EXPRESS}', base_url, allow_insecure: true },
      ],
    },
  })));
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: {
    readonly data: readonly { readonly embedding: readonly number[] }[];
    readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
  };
}

async function post(body: object | string, more: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: {
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.caller',
      'content-type': 'application/json',
      ...more,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] };
}

const contentsOf = ({ json: body }: SeenRequest): readonly string[] =>
  (body['instances'] as { content: string }[]).map(({ content }) => content);
const prediction = (text: string) => ({
  embeddings: { values: [text.length, 0.5], statistics: { truncated: false, token_count: 3 } },
});
const predict: Script = (request, res) => json(res, { predictions: contentsOf(request).map(prediction) });
const vectors = ({ json: { data } }: Answer) => data.map(({ embedding }) => embedding[0]);
async function retries(): Promise<string[]> {
  const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  return [...text.matchAll(/^gatehouse_upstream_retries_total(.* [1-9]\d*)$/gm)].map(([, series]) => series!);
}

const TEXT = '@vertex/text-embedding-005';
const ONE_BY_ONE = '@vertex/gemini-embedding-001';
const RETRYING = {
  server: { default_config: 'retrying' },
  gateway: {
    retrying: { retry: { attempts: 2, on_status_codes: [502, 503], min_delay: '1ms', max_delay: '2ms' } },
  },
};

describe('the input of a request', () => {
  it('may be 2,048 texts, in order through all calls', async () => {
    await start(predict);
    const input = Array.from({ length: 2048 }, (_, at) => 'x'.repeat(1 + (at % 97)));
    const answer = await post({ model: TEXT, input });
    expect(vectors(answer)).toEqual(input.map(({ length }) => length));
    expect(upstream.seen.map((request) => contentsOf(request).length).toSorted((a, b) => b - a)).toEqual([
      ...Array.from({ length: 8 }, () => 250),
      48,
    ]);
  });

  it.each<[string, unknown, string]>([
    ['2,049 texts', Array.from({ length: 2049 }, () => 'x'), 'input'],
    ['an empty text among others', ['x', ''], 'input[1]'],
    ['an empty list', [], 'input'],
    ['texts and tokens', ['x', [1, 2]], 'input'],
    ['an image for a model of text', ['x', { image: { url: 'gs://b/a.png' } }], 'input[1].image'],
  ])('may not be %s: no upstream is called', async (_, input, param) => {
    await start(predict);
    const { status, json: body } = await post({ model: TEXT, input });
    expect([status, body.error.param, upstream.seen.length]).toEqual([400, param, 0]);
  });

  it('that is white space is Google’s to refuse, and one text too long for a call goes alone', async () => {
    await start(predict);
    const long = 'word '.repeat(20_000);
    expect(vectors(await post({ model: TEXT, input: [' ', long, '\n'] }))).toEqual([1, long.length, 1]);
    expect(upstream.seen.map(contentsOf).toSorted()).toEqual([['\n'], [' '], [long]]);
  });

  it.each([0, -1, 1.5, '256'])('may not ask for %j dimensions', async (dimensions) => {
    await start(predict);
    const { status, json: body } = await post({ model: TEXT, input: 'x', dimensions });
    expect([status, body.error.param, upstream.seen.length]).toEqual([400, 'dimensions', 0]);
  });
});

describe('the replies to a request of several calls', () => {
  it('are bounded together while they come, not each by itself', async () => {
    await start(
      (_, res) => {
        // Each is well below the bound, and none ever ends.
        res.writeHead(200, { 'content-type': 'application/json' }).write(' '.repeat(40_000));
      },
      { server: { limits: { reply: '100KiB' } } },
    );
    const { status, json: body } = await post({ model: ONE_BY_ONE, input: Array.from({ length: 8 }, () => 'x') });
    expect([status, body.error.code, body.error.message]).toEqual([
      502,
      'reply_too_large',
      expect.stringContaining('102400 bytes (limits.reply)'),
    ]);
    await until(() => upstream.seen.every(({ aborted }) => aborted), 'all are given up');
  });

  it.each<[string, Script, string]>([
    ['cannot be read', (_, res) => json(res, { predictions: [] }), 'server_error'],
    [
      'is no JSON',
      (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"pre'),
      'server_error',
    ],
    [
      'breaks off',
      (_, res) =>
        void res
          .writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
          .write('{"pre', () => res.destroy()),
      'network',
    ],
  ])(
    'of which one %s are asked for again where that one is missing, and the retry has its reason',
    async (_, broken, reason) => {
      let failures = 1;
      await start(
        (request, res, index) =>
          (contentsOf(request)[0] === 'bb' && failures-- > 0 ? broken : predict)(request, res, index),
        RETRYING,
        { embeddings: { parallel_calls: 1 } },
      );
      const answer = await post({ model: ONE_BY_ONE, input: ['a', 'bb', 'ccc'] });
      expect([answer.status, vectors(answer)]).toEqual([200, [1, 2, 3]]);
      expect(upstream.seen.flatMap(contentsOf)).toEqual(['a', 'bb', 'bb', 'ccc']);
      expect(await retries()).toEqual([`{provider="vertex",reason="${reason}"} 1`]);
    },
  );

  it('that make no answer together are asked for again, all of them, and each retry has its reason', async () => {
    let short = true;
    await start((request, res, index) => {
      const [text = ''] = contentsOf(request);
      if (text !== 'bb' || !short) return predict(request, res, index);
      short = false;
      json(res, { predictions: [{ embeddings: { values: [1] } }] });
    }, RETRYING);
    const answer = await post({ model: ONE_BY_ONE, input: ['a', 'bb', 'ccc'] });
    expect([answer.status, vectors(answer), upstream.seen.length]).toEqual([200, [1, 2, 3], 6]);
    expect(await retries()).toEqual(['{provider="vertex",reason="server_error"} 3']);
  });
});

describe('what a config and headers do to a request for embeddings', () => {
  const CONFIGS = {
    gateway: {
      params: {
        provider: '@vertex',
        default_params: { dimensions: 256, task_type: 'RETRIEVAL_QUERY' },
        override_params: { auto_truncate: false, user: null },
        drop_params: ['x_trace'],
      },
      labelled: { provider: '@vertex', metadata: { labels: true } },
      cached: { provider: '@vertex', cache: { mode: 'exact' } },
    },
  };

  it('gives it defaults, overrides what it says and takes out what it must not have', async () => {
    await start(predict, CONFIGS);
    const asked = {
      model: 'text-embedding-005',
      input: 'x',
      dimensions: 128,
      auto_truncate: true,
      user: 'u',
      x_trace: 1,
    };
    const { status, headers } = await post(asked, { 'x-gateway-config': 'params', 'x-gateway-strict-params': 'true' });
    expect([status, headers.get('x-gateway-dropped-params')]).toEqual([200, null]);
    expect(upstream.seen[0]!.json).toEqual({
      instances: [{ content: 'x', task_type: 'RETRIEVAL_QUERY' }],
      parameters: { autoTruncate: false, outputDimensionality: 128 },
    });
  });

  it('tells what is lost, once however many calls it takes, or refuses it where the caller wants that', async () => {
    await start(predict);
    const asked = { model: ONE_BY_ONE, input: ['x', 'y'], user: 'u', title: 't', labels: { a: 'b' } };
    const reported = await post(asked);
    expect(reported.headers.get('x-gateway-dropped-params')?.split(',').toSorted()).toEqual([
      'labels',
      'title',
      'user',
    ]);
    const refused = await post(asked, { 'x-gateway-strict-params': 'true' });
    expect([refused.status, upstream.seen.length]).toEqual([400, 2]);
  });

  it('keeps both encodings apart in the cache', async () => {
    await start(predict, CONFIGS);
    const ask = (more: object) =>
      post({ model: 'text-embedding-005', input: 'x', ...more }, { 'x-gateway-config': 'cached' });
    expect([typeof (await ask({})).json.data[0]!.embedding, upstream.seen.length]).toEqual(['object', 1]);
    expect(typeof (await ask({ encoding_format: 'base64' })).json.data[0]!.embedding).toBe('string');
    expect([typeof (await ask({})).json.data[0]!.embedding, upstream.seen.length]).toEqual(['object', 2]);
  });

  it('gives what the cache holds as it was, also where a body asks for a stream, which embeddings do not have', async () => {
    await start(predict, CONFIGS);
    const ask = (more: object) =>
      post({ model: 'text-embedding-005', input: 'x', ...more }, { 'x-gateway-config': 'cached' });
    const first = await ask({});
    const second = await ask({ stream: true });
    expect([second.status, second.headers.get('content-type'), second.json.data]).toEqual([
      200,
      'application/json',
      first.json.data,
    ]);
  });

  it('writes no labels of metadata into them, which Google would refuse', async () => {
    await start(predict, CONFIGS);
    const more = { 'x-gateway-config': 'labelled', 'x-gateway-metadata': '{"team":"search"}' };
    expect((await post({ model: 'text-embedding-005', input: 'x' }, more)).status).toBe(200);
    expect(upstream.seen[0]!.json).toEqual({ instances: [{ content: 'x' }] });
  });
});

describe('the place of embeddings', () => {
  it.each([
    ['@express/text-embedding-005', '/v1/publishers/google/models/text-embedding-005:predict'],
    ['@express/google.textembedding-gecko@003', '/v1/publishers/google/models/textembedding-gecko@003:predict'],
  ])('of %s is below the version, with the key', async (model, path) => {
    await start(predict);
    expect((await post({ model, input: 'x' })).status).toBe(200);
    const { url, headers } = upstream.seen[0]!;
    expect([url, headers['x-goog-api-key'], headers['authorization']]).toEqual([path, 'express-key', undefined]);
  });

  it.each([
    ['@vertex/gemini-2.5-flash', 400, 'unsupported_task'],
    ['@vertex/anthropic.claude-sonnet-4-5@20250929', 400, 'unsupported_task'],
    ['@vertex/meta.llama-4-scout', 400, 'unsupported_task'],
    ['@vertex/endpoints.42', 400, 'unsupported_task'],
    ['@express/meta.llama-4-scout', 400, 'invalid_model'],
    ['@vertex/text-embedding-005/../../x', 400, 'invalid_model'],
  ])('of %s is none', async (model, status, code) => {
    await start(predict);
    const { status: reported, json: body } = await post({ model, input: 'x' });
    expect([reported, body.error.code, upstream.seen.length]).toEqual([status, code, 0]);
  });
});

describe('docs/providers/vertex-ai.md', () => {
  const text = readFileSync(packageFile('docs/providers/vertex-ai.md'), 'utf8');
  const bodies = [...text.matchAll(/^\| `(\{.*\})` \|/gm)].map(([, body]) => body!);

  it('shows bodies', () => expect(bodies.length).toBeGreaterThan(3));

  it.each(bodies)('has a body that is answered, with nothing lost: %s', async (body) => {
    await start(({ url }, res) =>
      json(
        res,
        url.endsWith(':embedContent')
          ? { embedding: { values: [1, 2] } }
          : {
              predictions: [
                { textEmbedding: [1, 2], imageEmbedding: [3, 4], videoEmbeddings: [{ embedding: [5, 6] }] },
              ],
            },
      ),
    );
    const answer = await post(body, { 'x-gateway-strict-params': 'true' });
    expect([answer.status, answer.json.data[0]!.embedding.length]).toEqual([200, 2]);
  });
});
