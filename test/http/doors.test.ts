import { explainOf } from '../support/explain-of.ts';
import { request as httpRequest, type ServerResponse } from 'node:http';
import OpenAI, { BadRequestError, RateLimitError, toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, sse, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/** Completions, moderations, speech and multipart forms: the openai SDK to servers of OpenAI's API. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

async function start(script: Script, settings: Omit<TestSettings, 'catalog'> = {}): Promise<OpenAI> {
  ({ upstream, gateway } = await startPair(script, (url) => ({
    ...settings,
    catalog: {
      providers: [
        { slug: 'openai', provider: 'openai', base_url: `${url}/v1`, allow_insecure: true },
        { slug: 'other', provider: 'openai', base_url: `${url}/other/v1`, allow_insecure: true },
        { slug: 'plain', provider: 'openai', base_url: `${url}/v1`, allow_insecure: true, stream_usage: false },
        { slug: 'claude', provider: 'anthropic', api_key: 'claude-key', base_url: url, allow_insecure: true },
      ],
    },
  })));
  return client();
}

const client = (headers: Record<string, string> = {}): OpenAI =>
  new OpenAI({ apiKey: KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: headers });

const chunk = (text: string, finish_reason: string | null = null) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'davinci-002',
  choices: [{ index: 0, text, finish_reason, logprobs: null }],
});
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const calls: readonly [string, string, (openai: OpenAI, model: string) => Promise<unknown>][] = [
  ['completions', '/completions', (openai, model) => openai.completions.create({ model, prompt: 'Once' })],
  ['moderations', '/moderations', (openai, model) => openai.moderations.create({ model, input: 'Once' })],
  ['speech', '/audio/speech', (openai, model) => openai.audio.speech.create({ model, input: 'Once', voice: 'alloy' })],
];

const REPLIES: Readonly<Record<string, object>> = {
  '/v1/completions': { ...chunk('upon', 'stop'), usage },
  '/v1/moderations': { id: 'modr-1', model: 'omni', results: [{ flagged: false }] },
  '/v1/audio/speech': { any: 'bytes' },
};

describe.each(calls)('%s', (_, path, call) => {
  it('reach the entry that `model` names, with the name of the model only', async () => {
    await call(await start(({ url }, res) => json(res, REPLIES[url])), '@openai/a/model');
    expect(upstream.seen).toMatchObject([{ url: `/v1${path}`, json: { model: 'a/model' } }]);
  });

  it('fall back to the next target, with its parameters', async () => {
    await start(({ url }, res) => (url.startsWith('/other') ? json(res, {}, 500) : json(res, REPLIES[url])), {
      gateway: {
        pair: {
          strategy: { mode: 'fallback' },
          targets: [
            { provider: '@other', override_params: { model: 'first' } },
            { provider: '@openai', override_params: { model: 'second', user: 'u' } },
          ],
        },
      },
    });
    await call(client({ 'x-gateway-config': 'pair' }), 'any');
    expect(upstream.seen.map(({ url, json: { model, user } }) => [url, model, user])).toEqual([
      [`/other/v1${path}`, 'first', undefined],
      [`/v1${path}`, 'second', 'u'],
    ]);
  });

  it('are an error of OpenAI’s API if the upstream refuses them', async () => {
    const error = { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' };
    const openai = await start((_request, res) => json(res, { error }, 429));
    await expect(call(openai, '@openai/m')).rejects.toThrow(RateLimitError);
    await expect(call(openai, '@openai/m')).rejects.toThrow('Slow down.');
  });

  it('are refused for an entry whose provider has no such API', async () => {
    const openai = await start((_request, res) => json(res, {}));
    await expect(call(openai, '@claude/claude-sonnet-4-5')).rejects.toThrow(BadRequestError);
    await expect(call(openai, '@claude/claude-sonnet-4-5')).rejects.toMatchObject({ code: 'unsupported_task' });
    expect(upstream.seen).toEqual([]);
  });
});

it.each([
  ['/v1/moderations', () => JSON.stringify({ input: 'a' }), 400, 'missing_required_parameter'],
  ['/v1/images/edits', () => form({ prompt: 'a' }), 400, 'missing_required_parameter'],
  ['/v1/images/variations', () => form({ n: '1' }), 400, 'missing_required_parameter'],
])('%s without `model` is refused beside a named entry', async (path, bodyOf, status, code) => {
  await start((_request, res) => json(res, {}));
  const body = bodyOf();
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'x-gateway-provider': '@openai',
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  });
  expect([reply.status, ((await reply.json()) as { error: object }).error]).toMatchObject([status, { code }]);
  expect(upstream.seen).toEqual([]);
});

it.each([
  ['/v1/images/edits', 'application/json'],
  ['/v1/images/edits', undefined],
  ['/v1/images/variations', 'application/json; charset=utf-8'],
  ['/v1/audio/transcriptions', 'text/plain'],
  ['/v1/audio/translations', 'multipart/mixed; boundary=a'],
])('%s with a body of the type %s is refused, and explain says so', async (path, type) => {
  await start((_request, res) => json(res, {}));
  const body = Buffer.from(JSON.stringify({ model: '@openai/m', prompt: 'A cat', images: [{ file_id: 'file-1' }] }));
  const headers = { authorization: `Bearer ${KEY}`, ...(type !== undefined && { 'content-type': type }) };
  const reply = await fetch(gateway.url + path, { method: 'POST', headers, body });
  const { error } = (await reply.json()) as { error: { message: string; param: null; code: string } };
  const { code } = error;
  expect([reply.status, code]).toEqual([415, 'unsupported_media_type']);
  const { answer } = await explainOf(gateway.gateway).explain({ method: 'POST', path, headers, body: body.toString() });
  expect(answer).toEqual({ status: 415, code, message: error.message, param: error.param });
  expect(upstream.seen).toEqual([]);
});

it('A form is explained by its text fields as JSON, with the type of a form', async () => {
  await start((_request, res) => json(res, {}));
  const explained = await explainOf(gateway.gateway).explain({
    method: 'POST',
    path: '/v1/images/edits',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'multipart/form-data' },
    body: '{"model":"@openai/m","prompt":"A cat"}',
  });
  expect(explained.answer).toBeUndefined();
  expect(explained.targets[0]?.outbound?.url).toMatch(/\/v1\/images\/edits$/);
});

function form(fields: Readonly<Record<string, string>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append('image', new Blob(['png'], { type: 'image/png' }), 'a.png');
  return data;
}

describe('a stream of completions', () => {
  it.each([
    ['its usage for a client that requests it', true, ['upon null', ' a null', '(usage) [object Object]']],
    ['no usage for others', undefined, ['upon undefined', ' a undefined']],
  ])('reaches the SDK piece by piece, with its usage in the record and %s', async (_, include_usage, expected) => {
    const openai = await start(({ json: { stream_options: options } }, res) => {
      // OpenAI sends usage only if the request asks for it.
      const asked = (options as { include_usage?: boolean } | undefined)?.include_usage === true;
      const none = asked && { usage: null };
      const last = asked ? [{ ...chunk(''), choices: [], usage }] : [];
      return sse(res, [
        { ...chunk('upon'), ...none },
        { ...chunk(' a', 'stop'), ...none },
        ...last,
        'data: [DONE]\n\n',
      ]);
    });
    const stream = await openai.completions.create({
      model: '@openai/davinci-002',
      prompt: 'Once',
      stream: true,
      ...(include_usage && { stream_options: { include_usage } }),
    });
    const texts: string[] = [];
    for await (const { choices, usage: shown } of stream)
      texts.push(`${choices[0]?.text ?? '(usage)'} ${String(shown)}`);
    expect(texts).toEqual(expected);
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gatehouse_tokens_total\{[^}]*operation="text_completion"[^}]*type="output"[^}]*\} 2$/m);
  });

  it('asks a server without `stream_options` for nothing', async () => {
    const openai = await start((_request, res) => sse(res, [chunk('a', 'stop'), 'data: [DONE]\n\n']));
    const stream = await openai.completions.create({ model: '@plain/m', prompt: 'Once', stream: true });
    for await (const { object } of stream) expect(object).toBe('text_completion');
    expect(upstream.seen[0]?.json).not.toHaveProperty('stream_options');
  });

  it('ends with an error if the upstream ends it before its finish', async () => {
    const openai = await start((_request, res) => sse(res, [chunk('upon')]));
    const stream = await openai.completions.create({ model: '@openai/davinci-002', prompt: 'Once', stream: true });
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow('before it was complete');
  });
});

describe('speech', () => {
  it('leaves with its first bytes, unchanged and with its type', async () => {
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    const openai = await start(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'audio/mpeg' });
      res.write(Buffer.from([0xff, 0xfb, 0x00]));
      // The upstream goes on only when the client has the first bytes.
      await heard;
      res.end(Buffer.from([0x01]));
    });
    const reply = await openai.audio.speech.create({ model: '@openai/tts', input: 'Hi', voice: 'alloy' });
    expect(reply.headers.get('content-type')).toBe('audio/mpeg');
    const pieces: number[] = [];
    for await (const piece of reply.body as unknown as AsyncIterable<Uint8Array>) {
      pieces.push(...piece);
      hear();
    }
    expect(pieces).toEqual([0xff, 0xfb, 0x00, 0x01]);
  });

  it('streams as events with `stream_format: sse`', async () => {
    const openai = await start((_request, res) =>
      sse(res, [
        { type: 'speech.audio.delta', audio: 'AAAA' },
        { type: 'speech.audio.done', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
      ]),
    );
    const ask = { model: '@openai/tts', input: 'Hi', voice: 'alloy', stream_format: 'sse' } as const;
    const reply = await openai.audio.speech.create(ask);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(await reply.text()).toContain('speech.audio.done');
  });
});

it('the cache answers an equal moderation, and no stream of completions with a plain reply', async () => {
  const openai = await start(
    ({ url, json: { stream } }, res) =>
      stream === true ? sse(res, [chunk('a', 'stop'), 'data: [DONE]\n\n']) : json(res, REPLIES[url]),
    { gateway: { cached: { provider: '@openai', cache: { mode: 'simple' } } } },
  );
  const cached = openai.withOptions({ defaultHeaders: { 'x-gateway-config': 'cached' } });
  for (const _ of [1, 2]) await cached.moderations.create({ model: 'm', input: 'a' });
  expect(upstream.seen).toHaveLength(1);
  await cached.completions.create({ model: 'm', prompt: 'a' });
  const stream = await cached.completions.create({ model: 'm', prompt: 'a', stream: true });
  for await (const { object } of stream) expect(object).toBe('text_completion');
  expect(upstream.seen).toHaveLength(3);
});

const SOUND = Buffer.from(Array.from({ length: 3000 }, (_, at) => at % 256));
const file = () => toFile(SOUND, 'a.wav', { type: 'audio/wav' });

const forms: readonly [string, string, object, (openai: OpenAI, model: string) => Promise<unknown>][] = [
  [
    'a transcription',
    '/audio/transcriptions',
    { text: 'Hi' },
    async (openai, model) => openai.audio.transcriptions.create({ file: await file(), model, language: 'en' }),
  ],
  [
    'a translation',
    '/audio/translations',
    { text: 'Hi' },
    async (openai, model) => openai.audio.translations.create({ model, file: await file() }),
  ],
  [
    'an edit of images',
    '/images/edits',
    { created: 1, data: [{ b64_json: 'AAAA' }] },
    async (openai, model) => openai.images.edit({ image: [await file(), await file()], model, prompt: 'A cat' }),
  ],
  [
    'a variation of an image',
    '/images/variations',
    { created: 1, data: [{ b64_json: 'AAAA' }] },
    async (openai, model) => openai.images.createVariation({ model, image: await file() }),
  ],
];

describe.each(forms)('%s', (_, path, reply, call) => {
  it('reaches the entry that `model` names, with its bytes and the name of the model', async () => {
    const openai = await start((_request, res) => json(res, reply));
    expect(await call(openai, '@openai/a/model')).toMatchObject(reply);
    const { url, text, headers } = upstream.seen[0]!;
    expect(url).toBe(`/v1${path}`);
    expect(text).toMatch(/name="model"\r\n\r\na\/model\r\n/);
    expect(text).toContain(SOUND.toString());
    expect(headers).toMatchObject({ 'content-type': expect.stringMatching(/^multipart\/form-data; boundary=/) });
  });

  it('falls back to the next target, because a small form is held', async () => {
    await start(({ url }, res) => (url.startsWith('/other') ? json(res, {}, 500) : json(res, reply)), {
      gateway: {
        pair: {
          strategy: { mode: 'fallback' },
          targets: [
            { provider: '@other', override_params: { model: 'first' } },
            { provider: '@openai', override_params: { model: 'second', user: 'u' } },
          ],
        },
      },
    });
    await call(client({ 'x-gateway-config': 'pair' }), 'any');
    expect(upstream.seen.map(({ url, text }) => [url, /name="model"\r\n\r\n(.*)\r\n/.exec(text)?.[1]])).toEqual([
      [`/other/v1${path}`, 'first'],
      [`/v1${path}`, 'second'],
    ]);
    expect(upstream.seen[1]!.text).toMatch(/name="user"\r\n\r\nu\r\n/);
  });

  it('is refused for an entry whose provider has no such API', async () => {
    const openai = await start((_request, res) => json(res, {}));
    await expect(call(openai, '@claude/claude-sonnet-4-5')).rejects.toMatchObject({ code: 'unsupported_task' });
    expect(upstream.seen).toEqual([]);
  });
});

describe('the reply to a transcription', () => {
  it.each([
    ['text/plain; charset=utf-8', 'Hello.\n'],
    ['text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n'],
    ['application/x-subrip', '1\n00:00:00,000 --> 00:00:01,000\nHello.\n'],
    ['application/json', '{"text":"Hello.","usage":{"type":"duration","seconds":1}}'],
  ])('passes as it is: %s', async (type, text) => {
    await start((_request, res) => void res.writeHead(200, { 'content-type': type }).end(text));
    const form = new FormData();
    form.set('model', '@openai/whisper-1');
    form.set('file', new Blob([SOUND]), 'a.wav');
    const reply = await post('transcriptions', form);
    expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([200, type, text]);
  });

  it.each([
    ['plain', false, (usage: object) => (res: ServerResponse) => json(res, { text: 'Hi', usage })],
    [
      'streamed',
      true,
      (usage: object) => (res: ServerResponse) => sse(res, [{ type: 'transcript.text.done', text: 'Hi', usage }]),
    ],
  ])('has its seconds in the record and in a metric, as other replies have tokens: %s', async (_, stream, answer) => {
    const usage = { type: 'duration', seconds: 7 };
    await start((_request, res) => answer(usage)(res));
    const form = new FormData();
    form.set('model', '@openai/w');
    form.set('stream', String(stream));
    form.set('file', new Blob([SOUND]), 'a.wav');
    expect(await (await post('transcriptions', form)).text()).toContain(JSON.stringify(usage));
    expect(gateway.logs.at(-1)!['tokens']).toEqual({ input: 0, output: 0, seconds: 7 });
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gatehouse_audio_seconds_total\{.*request_model="__other__".*\} 7$/m);
    expect(metrics).not.toMatch(/^gatehouse_tokens_total\{.*provider="openai"/m);
  });

  it('streams as events', async () => {
    const openai = await start((_request, res) =>
      sse(res, [
        { type: 'transcript.text.delta', delta: 'Hi' },
        { type: 'transcript.text.done', text: 'Hi' },
      ]),
    );
    const stream = await openai.audio.transcriptions.create({ file: await file(), model: '@openai/w', stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });
});

const post = (path: string, body: FormData | ReadableStream, more: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/audio/${path}`, {
    method: 'POST',
    headers: { 'x-gateway-api-key': KEY, ...more },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  });

const BOUNDARY = 'x'.repeat(30);
const typed = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const sound = (text: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${text}\r\n`;
const END = `--${BOUNDARY}--\r\n`;
const streamOf = (...texts: readonly string[]): ReadableStream => new Blob([...texts]).stream();

describe('a form that passes through as it arrives', () => {
  const SMALL = { server: { limits: { form_held: '10KiB' } } };
  const large = 'a'.repeat(200_000);

  it('reaches the upstream with the fields behind its file', async () => {
    await start((_request, res) => json(res, { text: 'Hi' }), SMALL);
    const reply = await post(
      'transcriptions',
      streamOf(field('model', '@openai/m'), sound(large), field('language', 'en'), END),
      typed,
    );
    expect([reply.status, await reply.json()]).toEqual([200, { text: 'Hi' }]);
    const { text } = upstream.seen[0]!;
    expect(text).toContain(large);
    expect(text).toMatch(/name="language"\r\n\r\nen\r\n--[^\r]*--\r\n$/);
    expect(text).not.toContain(BOUNDARY);
  });

  it('goes to one target: a failure is the caller’s', async () => {
    await start(
      (_request, res) =>
        json(res, { error: { message: 'Broken.', type: 'server_error', code: null, param: null } }, 500),
      {
        ...SMALL,
        gateway: {
          pair: { strategy: { mode: 'fallback' }, targets: [{ provider: '@openai' }, { provider: '@other' }] },
        },
      },
    );
    const body = streamOf(field('model', 'm'), sound(large), END);
    const reply = await post('transcriptions', body, { ...typed, 'x-gateway-config': 'pair' });
    expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('Broken.')]);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ['a second model', [field('model', '@openai/m'), sound(large), field('model', 'other')], 'duplicate_parameter'],
    ['the model behind a large file', [sound(large.slice(0, 30_000)), field('model', '@openai/m')], 'model_after_file'],
    ['a field that looks like the model', [field('model', '@openai/m'), sound(large), field('Model', 'o')], ''],
    ['no end', [field('model', '@openai/m'), sound(large)], 'invalid_multipart'],
  ])('is refused with %s', async (what, parts, code) => {
    await start((_request, res) => json(res, { text: 'Hi' }), SMALL);
    const reply = await post('transcriptions', streamOf(...parts, what === 'no end' ? '' : END), typed);
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(code)]);
    expect(upstream.seen).toEqual([]);
  });

  it.each([
    ['a field rule of its entry', { fields: { deny: ['prompt'] } }, {}],
    ['an override of its target', {}, { override_params: { prompt: 'ours' } }],
  ])('is refused with a late field that could pass by %s', async (_, entry, target) => {
    ({ upstream, gateway } = await startPair(
      (_request, res) => json(res, { text: 'Hi' }),
      (url) => ({
        ...SMALL,
        catalog: {
          providers: [{ slug: 'openai', provider: 'openai', base_url: `${url}/v1`, allow_insecure: true, ...entry }],
        },
        gateway: { one: { provider: '@openai', ...target } },
      }),
    ));
    const body = streamOf(field('model', 'm'), sound(large), field('prompt', 'theirs'), END);
    const reply = await post('transcriptions', body, { ...typed, 'x-gateway-config': 'one' });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('before the file')]);
    expect(upstream.seen).toEqual([]);
  });

  it('is refused beyond `limits.form`', async () => {
    await start((_request, res) => json(res, { text: 'Hi' }), {
      server: { limits: { form_held: '1KiB', form: '50KiB' } },
    });
    const reply = await post('transcriptions', streamOf(field('model', '@openai/m'), sound(large), END), typed);
    expect([reply.status, await reply.text()]).toEqual([413, expect.stringContaining('limits.form')]);
  });
});

describe('a client that leaves in the middle of its form', () => {
  const LIMITS = { server: { limits: { body: '60KiB', form_held: '60KiB', in_flight_bytes: '200KiB' } } };

  /** Sends a part of a form of `announced` bytes, and disconnects once `isThere`. */
  async function leave(announced: number, isThere: () => boolean): Promise<void> {
    const request = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': KEY, 'content-length': announced, ...typed },
    });
    request.on('error', () => {});
    request.write(field('model', '@openai/m') + sound('a'.repeat(40_000)).slice(0, -2));
    await until(isThere, 'the form arrives');
    request.destroy();
  }

  const running = (): number => gateway.gateway.records({ limit: 10, state: 'running' }).length;

  it.each([
    ['held', 55_000, () => running() === 1],
    ['passing through', 500_000, () => upstream.sockets.size === 1],
  ])('ends the request to the upstream, and frees its bytes: a form that is %s', async (_, announced, isThere) => {
    const openai = await start((_request, res) => json(res, { text: 'Hi' }), LIMITS);
    for (let time = 0; time < 10; time += 1) {
      await leave(announced, isThere);
      await until(() => running() === 0 && upstream.sockets.size === 0, 'the request has ended');
    }
    expect(upstream.seen).toEqual([]);
    const lines = gateway.logs.filter(({ route }) => route === '/v1/audio/transcriptions');
    expect(lines).toHaveLength(10);
    for (const line of lines)
      expect(line).toMatchObject({ status: 499, msg: 'client left', error_code: 'client_closed' });
    expect(await openai.audio.transcriptions.create({ file: await file(), model: '@openai/m' })).toEqual({
      text: 'Hi',
    });
  });
});
