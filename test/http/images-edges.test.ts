import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, type Script, type ScriptedUpstream, type SeenRequest } from '../support/upstream.ts';

/** Images at their bounds: replies that are large or half there, retries, and what a config does to a body. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

async function start(script: Script, settings: Omit<TestSettings, 'catalog'> = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, (url) => {
    const here = { base_url: url, allow_insecure: true };
    return {
      ...settings,
      options: { env: { EXPRESS: 'express-key' } },
      catalog: {
        providers: [
          { slug: 'vertex', provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1', ...here },
          { slug: 'express', provider: 'vertex-ai', api_key: '${env:EXPRESS}', ...here },
          { slug: 'openai', provider: 'openai', ...here, base_url: `${url}/v1` },
        ],
      },
    };
  }));
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: {
    readonly data: readonly { readonly b64_json: string }[];
    readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
  };
}

async function post(body: object, more: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: {
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.caller',
      'content-type': 'application/json',
      ...more,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] };
}

const GEMINI = '@vertex/gemini-2.5-flash-image';
const IMAGEN = '@vertex/imagen-4.0-generate-001';
const prompt = 'a lighthouse';

const drawn = (data: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] }, index: 0 }],
});
const predicted = (...data: readonly string[]) => ({
  predictions: data.map((bytesBase64Encoded) => ({ bytesBase64Encoded, mimeType: 'image/png' })),
});
const seedOf = ({ json: body }: SeenRequest) => (body['generationConfig'] as { seed: number }).seed;
const google = (code: number, status: string) => ({ error: { code, message: `no ${status}`, status } });

describe('several images', () => {
  const retrying = {
    gateway: { retrying: { retry: { attempts: 1, on_status_codes: [502, 503], min_delay: '1ms', max_delay: '1ms' } } },
  };

  it.each<[string, (res: Parameters<Script>[1]) => void]>([
    ['is refused', (res) => json(res, google(503, 'UNAVAILABLE'), 503)],
    ['cannot be read', (res) => json(res, { candidates: 'none' })],
  ])('of which one %s are paid for once: a retry asks only for what is missing', async (_, fail) => {
    let failed = false;
    await start(async (request, res) => {
      const seed = seedOf(request);
      if (seed === 2 && !failed) {
        failed = true;
        // The others are there by then.
        await until(() => upstream.seen.length === 4, 'all four are asked for');
        setTimeout(() => fail(res), 50);
      } else json(res, drawn(`IMG${seed}`));
    }, retrying);
    const { status, json: body } = await post(
      { model: GEMINI, prompt, n: 4, seed: 1 },
      { 'x-gateway-config': 'retrying' },
    );
    expect([status, body.data.map(({ b64_json }) => b64_json)]).toEqual([200, ['IMG1', 'IMG2', 'IMG3', 'IMG4']]);
    expect(upstream.seen.map(seedOf).toSorted()).toEqual([1, 2, 2, 3, 4]);
  });

  it('that are larger than a reply may be are refused, one or all together', async () => {
    await start(
      (request, res) =>
        json(res, request.url.includes('predict') ? predicted('A'.repeat(70_000)) : drawn('A'.repeat(25_000))),
      { server: { limits: { reply: '64KiB' } } },
    );
    for (const asked of [
      { model: IMAGEN, prompt },
      { model: GEMINI, prompt, n: 3 },
    ]) {
      const { status, json: body } = await post(asked);
      expect([status, body.error.code]).toEqual([502, 'reply_too_large']);
    }
    expect((await post({ model: GEMINI, prompt, n: 2 })).status).toBe(200);
  });
});

describe('what cannot be asked for', () => {
  it.each<[string, object, string]>([
    ['an address', { response_format: 'url' }, 'response_format'],
    ['no image', { n: 0 }, 'n'],
    ['more than the model draws', { n: 5 }, 'n'],
    ['a size of nothing', { size: '0x0' }, 'size'],
    ['a size in words', { size: 'large' }, 'size'],
    ['a size beyond all', { size: '1000000x1' }, 'size'],
    ['a format of its own', { output_format: 'gif' }, 'output_format'],
    ['a wrong type', { n: '1' }, 'n'],
  ])('is %s: no upstream is called', async (_, more, param) => {
    await start((__, res) => json(res, predicted('A')));
    const { status, json: body } = await post({ model: IMAGEN, prompt, ...more });
    expect([status, body.error.param, upstream.seen.length]).toEqual([400, param, 0]);
  });
});

describe('what a config and headers do to a request for images', () => {
  const settings = {
    gateway: {
      params: {
        provider: '@vertex',
        default_params: { size: '1024x1024', n: 2 },
        override_params: { safety_setting: 'block_only_high', user: null },
        drop_params: ['style'],
      },
      labelled: { provider: '@vertex', metadata: { labels: true } },
      cached: { provider: '@vertex', cache: { mode: 'exact' } },
    },
  };

  it('gives it defaults, overrides what it says and takes out what it must not have', async () => {
    await start((_, res) => json(res, predicted('A', 'B')), settings);
    const { status } = await post(
      { model: 'imagen-4.0-generate-001', prompt, style: 'vivid', user: 'u', safety_setting: 'block_none' },
      { 'x-gateway-config': 'params', 'x-gateway-strict-params': 'true' },
    );
    expect(status).toBe(200);
    expect(upstream.seen[0]!.json['parameters']).toEqual({
      sampleCount: 2,
      aspectRatio: '1:1',
      safetySetting: 'block_only_high',
      includeRaiReason: true,
    });
  });

  it.each([
    [IMAGEN, predicted('A')],
    [GEMINI, drawn('A')],
  ])('labels %s with metadata', async (model, reply) => {
    await start((_, res) => json(res, reply), settings);
    const more = { 'x-gateway-config': 'labelled', 'x-gateway-metadata': '{"Team":"Search & Ads"}' };
    expect((await post({ model, prompt }, more)).status).toBe(200);
    expect(upstream.seen[0]!.json['labels']).toEqual({ team: 'search___ads' });
  });

  it('draws anew each time, where replies are cached too', async () => {
    await start((_, res, index) => json(res, predicted(`A${index}`)), settings);
    const ask = () => post({ model: 'imagen-4.0-generate-001', prompt }, { 'x-gateway-config': 'cached' });
    const answers = [await ask(), await ask()];
    expect(answers.map(({ headers }) => headers.get('x-gateway-cache-status'))).toEqual(['BYPASS', 'BYPASS']);
    expect(answers.map(({ json: { data } }) => data[0]!.b64_json)).toEqual(['A0', 'A1']);
  });
});

describe('the place of images', () => {
  it.each([
    ['@express/imagen-4.0-generate-001', ':predict', predicted('A')],
    ['@express/gemini-2.5-flash-image', ':generateContent', drawn('A')],
  ])('of %s is below the version, with the key', async (model, method, reply) => {
    await start((_, res) => json(res, reply));
    expect((await post({ model, prompt })).status).toBe(200);
    const { url, headers } = upstream.seen[0]!;
    expect([url, headers['x-goog-api-key'], headers['authorization']]).toEqual([
      `/v1/publishers/google/models/${model.replace('@express/', '')}${method}`,
      'express-key',
      undefined,
    ]);
  });
});
