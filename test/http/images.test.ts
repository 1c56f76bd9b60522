import { createOpenAI } from '@ai-sdk/openai';
import { generateImage } from 'ai';
import OpenAI, { APIError, BadRequestError, RateLimitError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { json, sse, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/** Images from every kind of upstream: what arrives there, and what the clients people use make of what comes back. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script = () => {};
/** Requests since the test began. */
const seen = () => upstream.seen.slice(before);
let before = 0;

const IMAGEN = '@vertex/imagen-3.0-generate-002';
const GEMINI = '@vertex/gemini-2.5-flash-image';
const MODELS = '/v1/projects/test-project/locations/us-central1/publishers/google/models';
/** A pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  const { url } = upstream;
  const common = { base_url: url, allow_insecure: true };
  const vertex = { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1', ...common };
  gateway = await startTestGateway(
    {
      catalog: {
        providers: [
          { slug: 'vertex', ...vertex },
          { slug: 'openai', provider: 'openai', api_key: '${env:OPENAI_KEY}', ...common, base_url: `${url}/v1` },
          { slug: 'azure', provider: 'azure-openai', api_key: '${env:OPENAI_KEY}', ...common },
          {
            slug: 'azure-dated',
            provider: 'azure-openai',
            api_key: '${env:OPENAI_KEY}',
            api_version: '2025-04-01-preview',
            deployments: { 'gpt-image-1': 'our-images' },
            ...common,
          },
        ],
      },
      gateway: {
        labels: { provider: '@vertex', override_params: { labels: { team: 'search' } } },
        twice: { provider: '@vertex', retry: { attempts: 1, on_status_codes: [503] } },
        other: {
          strategy: { mode: 'fallback', on_status_codes: [400] },
          targets: [{ override_params: { model: IMAGEN } }, { override_params: { model: '@openai/gpt-image-1' } }],
        },
      },
    },
    { env: { OPENAI_KEY: 'sk-upstream-CANARY' } },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  before = upstream.seen.length;
});

/** The caller's own Google token, as an entry with nothing but a project asks for. */
const headers = { 'x-gateway-api-key': KEY, authorization: 'Bearer ya29.of-the-caller' };
const client = (more: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'x', maxRetries: 0, defaultHeaders: { ...headers, ...more } });
const post = (body: object | string, more: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...more },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const prompt = 'a lighthouse';

const drawn = (more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }, index: 0 }],
  usageMetadata: {
    promptTokenCount: 4,
    candidatesTokenCount: 1290,
    totalTokenCount: 1294,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  },
  modelVersion: 'gemini-2.5-flash-image',
  ...more,
});
const blocked = (finishReason: string) => ({ candidates: [{ finishReason, index: 0 }] });

async function failureOf(work: Promise<unknown>): Promise<APIError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('Imagen', () => {
  it('draws for the openai SDK', async () => {
    script = (_, res) =>
      json(res, { predictions: [{ bytesBase64Encoded: PNG, mimeType: 'image/png', prompt: 'a tall lighthouse' }] });
    const { data, response } = await client()
      .images.generate({ model: IMAGEN, prompt, size: '1024x1024', n: 1, response_format: 'b64_json' })
      .withResponse();
    expect(data.data).toEqual([{ b64_json: PNG, revised_prompt: 'a tall lighthouse' }]);
    expect(data.created).toBeGreaterThan(1_700_000_000);
    expect(response.headers.get('x-gateway-dropped-params')).toBeNull();
    expect(seen()).toMatchObject([
      {
        url: `${MODELS}/imagen-3.0-generate-002:predict`,
        json: {
          instances: [{ prompt }],
          parameters: { sampleCount: 1, aspectRatio: '1:1', includeRaiReason: true },
        },
      },
    ]);
    expect(seen()[0]?.headers.authorization).toBe('Bearer ya29.of-the-caller');
  });

  it('draws for the Vercel AI SDK', async () => {
    script = (_, res) =>
      json(res, { predictions: [1, 2].map(() => ({ bytesBase64Encoded: PNG, mimeType: 'image/png' })) });
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'x', headers });
    const { images } = await generateImage({
      model: provider.image(IMAGEN),
      prompt,
      n: 2,
      maxImagesPerCall: 4,
      size: '1792x1024',
    });
    expect(images.map(({ base64 }) => base64)).toEqual([PNG, PNG]);
    expect(seen()[0]?.json).toMatchObject({ parameters: { sampleCount: 2, aspectRatio: '16:9' } });
  });

  it.each([
    ['with a reason', { predictions: [{ raiFilteredReason: 'Blocked. Support codes: 39322892' }] }, '39322892'],
    ['without a word', {}, 'gave no reason'],
  ])('that filters all images %s is an error of the client’s, with OpenAI’s code', async (_, reply, reason) => {
    script = (__, res) => json(res, reply);
    const error = await failureOf(client().images.generate({ model: IMAGEN, prompt }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'content_policy_violation', type: 'invalid_request_error' });
    expect(error.message).toContain(reason);
    // Asking again would be answered alike.
    expect(seen()).toHaveLength(1);
  });

  it('that filters some images gives the rest, and says so to clients that are not strict', async () => {
    const predictions = [{ raiFilteredReason: 'Blocked.' }, { bytesBase64Encoded: PNG, mimeType: 'image/png' }];
    script = (_, res) => json(res, { predictions });
    const body = { model: IMAGEN, prompt, n: 2 };
    expect(await (await post(body)).json()).toEqual({
      created: expect.any(Number),
      data: [{ b64_json: PNG }],
      output_format: 'png',
    });
    const loose = await post(body, { 'x-gateway-strict-open-ai-compliance': 'false' });
    expect(await loose.json()).toMatchObject({
      data: [{ b64_json: PNG }],
      filtered: { count: 1, reasons: ['Blocked.'] },
    });
  });

  it('is not asked for what it cannot give', async () => {
    for (const [body, param] of [
      [{ n: 5 }, 'n'],
      [{ response_format: 'url' }, 'response_format'],
      [{ size: 'huge' }, 'size'],
    ] as const) {
      const answer = await post({ model: IMAGEN, prompt, ...body });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_value', param } }]);
    }
    for (const body of [{ n: 'two' }, { prompt: 7 }, { stream: 'yes' }]) {
      const answer = await post({ model: IMAGEN, prompt, ...body });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
    }
    const answer = await post({ model: IMAGEN });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: 'prompt' } }]);
    expect(seen()).toEqual([]);
  });

  it('names what it cannot express, or is not asked at all where the caller wants it kept', async () => {
    script = (_, res) => json(res, { predictions: [{ bytesBase64Encoded: PNG }] });
    const body = { model: IMAGEN, prompt, style: 'vivid', user: 'u', moderation: 'low' };
    const answer = await post(body);
    expect(answer.headers.get('x-gateway-dropped-params')?.split(',').sort()).toEqual(['moderation', 'style', 'user']);
    const refused = await post(body, { 'x-gateway-strict-params': 'true' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'unsupported_parameter' } }]);
    expect(seen()).toHaveLength(1);
  });

  it('is sent the labels of a config', async () => {
    script = (_, res) => json(res, { predictions: [{ bytesBase64Encoded: PNG }] });
    await post({ model: 'imagen-4.0-generate-001', prompt }, { 'x-gateway-config': 'labels' });
    expect(seen()[0]).toMatchObject({
      url: `${MODELS}/imagen-4.0-generate-001:predict`,
      json: { labels: { team: 'search' } },
    });
  });

  it('that refuses passes Google’s words on, and what is busy is asked again', async () => {
    script = (_, res) => json(res, { error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' } }, 429);
    const error = await failureOf(client().images.generate({ model: IMAGEN, prompt }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.message).toContain('Quota.');
    script = (_, res, index) =>
      index === before + 1
        ? json(res, { error: { code: 503, message: 'Busy.', status: 'UNAVAILABLE' } }, 503)
        : json(res, { predictions: [{ bytesBase64Encoded: PNG }] });
    const answer = await post({ model: 'imagen-3.0-generate-002', prompt }, { 'x-gateway-config': 'twice' });
    expect(answer.status).toBe(200);
    expect(seen()).toHaveLength(3);
  });

  it('that filters all leaves the request to the next target where the config says so', async () => {
    script = (request, res) =>
      request.url.includes(':predict') ? json(res, {}) : json(res, { created: 1, data: [{ b64_json: PNG }] });
    const answer = await post({ model: 'any', prompt }, { 'x-gateway-config': 'other' });
    expect(await answer.json()).toEqual({ created: 1, data: [{ b64_json: PNG }] });
  });

  it('that answers with something else is a failure of the upstream', async () => {
    script = (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    const answer = await post({ model: IMAGEN, prompt });
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
  });
});

describe('Gemini', () => {
  it('draws several images in several calls and adds up their tokens', async () => {
    script = (_, res) => json(res, drawn());
    const answer = await client().images.generate({ model: GEMINI, prompt, n: 3, size: '1024x1024' });
    expect(answer.data).toEqual([1, 2, 3].map(() => ({ b64_json: PNG })));
    expect(answer.usage).toEqual({
      input_tokens: 12,
      output_tokens: 3870,
      total_tokens: 3882,
      input_tokens_details: { text_tokens: 12, image_tokens: 0 },
      output_tokens_details: { text_tokens: 0, image_tokens: 3870 },
    });
    expect(seen()).toHaveLength(3);
    for (const { url, json: body } of seen()) {
      expect(url).toBe(`${MODELS}/gemini-2.5-flash-image:generateContent`);
      expect(body).toEqual({
        contents: [{ role: 'user', parts: [{ text: prompt }] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '1:1' } },
      });
    }
  });

  it('is asked four at a time at most', async () => {
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    script = (_, res) => {
      most = Math.max(most, (open += 1));
      waiting.push(() => {
        open -= 1;
        json(res, drawn());
      });
      // Answers when no more can come.
      if (waiting.length === 4 || seen().length === 10) for (const go of waiting.splice(0)) go();
    };
    const { data } = await client().images.generate({ model: GEMINI, prompt, n: 10 });
    expect([data?.length, most]).toEqual([10, 4]);
  });

  it('draws for the Vercel AI SDK', async () => {
    script = (_, res) => json(res, drawn());
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'x', headers });
    const { image, usage } = await generateImage({ model: provider.image(GEMINI), prompt });
    expect([image.base64, usage]).toMatchObject([PNG, { inputTokens: 4, outputTokens: 1290, totalTokens: 1294 }]);
  });

  it('and its tokens are in the metrics', async () => {
    script = (_, res) => json(res, drawn());
    const counted = await tokensOf('gemini-2.5-flash-image', 'output');
    await (await post({ model: GEMINI, prompt, n: 2 })).text();
    expect((await tokensOf('gemini-2.5-flash-image', 'output')) - counted).toBe(2580);
  });

  it('that blocks some images gives the rest', async () => {
    script = (_, res, index) => json(res, index === before ? blocked('IMAGE_SAFETY') : drawn());
    const answer = await client().images.generate({ model: GEMINI, prompt, n: 2 });
    expect(answer.data).toEqual([{ b64_json: PNG }]);
  });

  it.each([
    ['the prompt', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'PROHIBITED_CONTENT'],
    ['the image', blocked('IMAGE_SAFETY'), 'IMAGE_SAFETY'],
    ['to draw', blocked('NO_IMAGE'), 'NO_IMAGE'],
  ])('that refuses %s every time is an error with the reason', async (_, reply, reason) => {
    script = (__, res) => json(res, reply);
    for (const n of [1, 2]) {
      const error = await failureOf(client().images.generate({ model: GEMINI, prompt, n }));
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ code: 'content_policy_violation' });
      expect(error.message).toContain(reason);
    }
  });

  it('that fails one call fails the request, and is asked no more', async () => {
    script = (_, res, index) =>
      index === before
        ? json(res, { error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' } }, 429)
        : undefined;
    const error = await failureOf(client().images.generate({ model: GEMINI, prompt, n: 3 }));
    expect(error).toBeInstanceOf(RateLimitError);
    await until(
      () =>
        seen()
          .slice(1)
          .every(({ aborted }) => aborted),
      'the other calls are given up',
    );
  });

  it('is left when the client leaves', async () => {
    script = () => {};
    const leaving = new AbortController();
    const asking = client().images.generate({ model: GEMINI, prompt, n: 2 }, { signal: leaving.signal });
    await until(() => seen().length === 2, 'both calls are there');
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await until(() => seen().every(({ aborted }) => aborted), 'both calls are given up');
  });
});

/** Tokens of a kind that the metrics count for a model. */
async function tokensOf(model: string, kind: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  const line = metrics
    .split('\n')
    .find((text) => text.includes('tokens') && text.includes(model) && text.includes(kind));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('a stream of images from Google', () => {
  it.each([
    ['Imagen', IMAGEN, { predictions: [{ bytesBase64Encoded: PNG, mimeType: 'image/png' }] }, undefined],
    ['Gemini', GEMINI, drawn(), { total_tokens: 1294 }],
  ])('is an event for each that %s drew', async (_, model, reply, usage) => {
    script = (__, res) => json(res, reply);
    const stream = await client().images.generate({ model, prompt, stream: true, partial_images: 1 });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([
      { type: 'image_generation.completed', b64_json: PNG, output_format: 'png', ...(usage && { usage }) },
    ]);
    expect(seen()[0]?.url).not.toContain('stream');
    const answer = await post({ model, prompt, stream: true, partial_images: 1 });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('x-gateway-dropped-params')).toBe('partial_images');
  });

  it('that is filtered is an error before it begins', async () => {
    script = (_, res) => json(res, {});
    const error = await failureOf(client().images.generate({ model: IMAGEN, prompt, stream: true }));
    expect(error).toMatchObject({ status: 400, code: 'content_policy_violation' });
  });
});

const usage = {
  input_tokens: 5,
  output_tokens: 100,
  total_tokens: 105,
  input_tokens_details: { text_tokens: 5, image_tokens: 0 },
};
const draft = { type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 };
const complete = { type: 'image_generation.completed', b64_json: PNG, usage };

describe('APIs like OpenAI’s', () => {
  it.each([
    ['@openai/gpt-image-1', '/v1/images/generations', 'gpt-image-1'],
    ['@azure/gpt-image-1', '/openai/v1/images/generations', 'gpt-image-1'],
    [
      '@azure-dated/gpt-image-1',
      '/openai/deployments/our-images/images/generations?api-version=2025-04-01-preview',
      'our-images',
    ],
  ])('%s: bytes go and come as they are, but for the model', async (model, url, name) => {
    const text = `{ "created": 1,\n "data": [{"b64_json":"${PNG}"}], "new": 12345678901234567890 }`;
    script = (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(text);
    const request = (as: string) =>
      `{"prompt" : "a \\u0061",  "model":"${as}", "size":"1x1","style": null, "zz":[1.0]}`;
    const answer = await post(request(model));
    expect([answer.status, await answer.text()]).toEqual([200, text]);
    expect(seen()).toMatchObject([{ url, text: request(name) }]);
    expect(answer.headers.get('x-gateway-dropped-params')).toBeNull();
  });

  it('give addresses to who wants them', async () => {
    script = (_, res) => json(res, { created: 1, data: [{ url: 'https://images.example/1.png' }] });
    const answer = await client().images.generate({ model: '@openai/dall-e-3', prompt, response_format: 'url' });
    expect(answer.data).toEqual([{ url: 'https://images.example/1.png' }]);
    expect(seen()[0]?.json).toEqual({ model: 'dall-e-3', prompt, response_format: 'url' });
  });

  it('stream to the openai SDK, byte for byte, and the tokens are counted', async () => {
    script = (_, res) => sse(res, [draft, complete]);
    const counted = await tokensOf('gpt-image-1', 'output');
    const asked = { model: '@openai/gpt-image-1', prompt, stream: true, partial_images: 1 } as const;
    const stream = await client().images.generate(asked);
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events).toEqual([draft, complete]);
    const answer = await post(asked);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(await answer.text()).toBe(
      [draft, complete].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    );
    expect(seen()[0]?.json).toEqual({ ...asked, model: 'gpt-image-1' });
    expect((await tokensOf('gpt-image-1', 'output')) - counted).toBe(200);
  });

  it('are left when the client leaves a stream', async () => {
    script = (_, res) => sse(res, [draft], false);
    const leaving = new AbortController();
    const asked = { model: '@openai/gpt-image-1', prompt, stream: true } as const;
    const stream = await client().images.generate(asked, { signal: leaving.signal });
    for await (const event of stream) {
      expect(event).toEqual(draft);
      leaving.abort();
    }
    await until(() => seen()[0]?.aborted === true, 'the upstream is left too');
  });

  it.each([
    ['is cut', [draft, null]],
    ['ends too soon', [draft]],
    [
      'tells an error',
      [draft, { type: 'error', error: { message: 'No.', type: 'server_error', code: null } }, complete],
    ],
  ])('end a stream that %s with one error event', async (_, events) => {
    script = (__, res) => sse(res, events);
    const answer = await post({ model: '@openai/gpt-image-1', prompt, stream: true });
    const [first, last, ...more] = (await answer.text()).split('\n\n').filter(Boolean);
    expect(answer.status).toBe(200);
    expect(first).toContain('partial_image');
    expect(last?.startsWith('data: {"error":{"message":')).toBe(true);
    expect(more).toEqual([]);
    const stream = await client().images.generate({ model: '@openai/gpt-image-1', prompt, stream: true });
    const error = await failureOf(
      (async () => {
        for await (const event of stream) expect(event.type).toBe(draft.type);
      })(),
    );
    expect(error).toBeInstanceOf(APIError);
  });

  it('pass their own refusals on', async () => {
    const error = {
      message: 'Rejected.',
      type: 'image_generation_user_error',
      param: null,
      code: 'moderation_blocked',
    };
    script = (_, res) => json(res, { error }, 400);
    const failure = await failureOf(client().images.generate({ model: '@openai/gpt-image-1', prompt, stream: true }));
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure).toMatchObject({ code: 'moderation_blocked' });
    expect(failure.message).toContain('Rejected.');
  });
});

describe('a model that does not draw', () => {
  it.each([
    '@vertex/gemini-2.5-pro',
    '@vertex/anthropic.claude-sonnet-4',
    '@vertex/text-embedding-005',
    '@vertex/meta.llama',
  ])('%s is not asked to', async (model) => {
    const answer = await post({ model, prompt });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'unsupported_task', type: 'invalid_request_error' } },
    ]);
    expect(seen()).toEqual([]);
  });
});
