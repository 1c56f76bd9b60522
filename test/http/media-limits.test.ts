import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** PDFs in every way a request may hold one, and what Claude and its API do not take. */

const PDF = Buffer.from('%PDF-1.7 pages').toString('base64');
const DIRECT = '@claude/claude-sonnet-4-5-20250929';
const VERTEX = '@gemini/anthropic.claude-sonnet-4-5@20250929';
const GEMINI = '@gemini/gemini-2.5-flash';
/** 32 MB as Anthropic counts. */
const LIMIT = 32 * 1024 * 1024;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** The upstream's refusal; none when undefined. */
let refusal: { status: number; body: object } | undefined;

beforeAll(async () => {
  upstream = await startUpstream(({ url }, res) => {
    if (refusal) return json(res, refusal.body, refusal.status);
    return json(res, url.includes('generateContent') ? geminiReply('Read.') : anthropicReply('Read.'));
  });
  gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      fetching: { remote_media: { hosts: ['127.0.0.1:*'], allow_insecure: true, max_bytes: '30MiB' } },
      roomier: {
        strategy: { mode: 'fallback', on_status_codes: [413] },
        targets: [{ override_params: { model: DIRECT } }, { override_params: { model: VERTEX } }],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function post(path: string, body: object | string, config?: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.of-the-caller',
      ...(config !== undefined && { 'x-gateway-config': config }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const ask = (path: string, model: string, part: object) =>
  post(path, {
    model,
    max_tokens: 10,
    messages: [{ role: 'user', content: [part, { type: 'text', text: 'Read it.' }] }],
  });
const chat = (model: string, part: object) => ask('/v1/chat/completions', model, part);
const sent = () => upstream.seen.at(-1)!.json;
const claudeSent = () => sent() as { messages: { content: unknown[] }[] };
const geminiSent = () => sent() as { contents: { parts: unknown[] }[] };

const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } };
const uri = `data:application/pdf;base64,${PDF}`;
const WAYS: readonly (readonly [string, object, object])[] = [
  ['a file with a data URI', { type: 'file', file: { file_data: uri } }, document],
  [
    'a file with a data URI and its type',
    { type: 'file', file: { mime_type: 'application/pdf', file_data: uri } },
    document,
  ],
  [
    'a file in raw base64 with its type',
    { type: 'file', file: { mime_type: 'application/pdf', file_data: PDF } },
    document,
  ],
  ['a file in raw base64', { type: 'file', file: { file_data: PDF } }, document],
  [
    'a file with its name',
    { type: 'file', file: { filename: 'a.pdf', file_data: uri } },
    { ...document, title: 'a.pdf' },
  ],
  ['an image_url', { type: 'image_url', image_url: { url: uri } }, document],
];

describe('a PDF in a chat request', () => {
  it.each([DIRECT, VERTEX].flatMap((model) => WAYS.map(([how, part, block]) => [how, model, part, block] as const)))(
    'as %s is a document of %s',
    async (_, model, part, block) => {
      expect((await chat(model, part)).status).toBe(200);
      expect(claudeSent().messages[0]!.content[0]).toEqual(block);
    },
  );

  it.each(WAYS)('as %s is inline data of Gemini', async (_, part) => {
    expect((await chat(GEMINI, part)).status).toBe(200);
    expect(geminiSent().contents[0]!.parts[0]).toEqual({ inlineData: { mimeType: 'application/pdf', data: PDF } });
  });

  it.each([
    ['gs://bucket/a.pdf', { type: 'image_url', image_url: { url: 'gs://bucket/a.pdf' } }],
    ['gs://bucket/b.pdf', { type: 'file', file: { file_url: 'gs://bucket/b.pdf' } }],
    ['gs://bucket/c', { type: 'file', file: { file_id: 'gs://bucket/c', mime_type: 'application/pdf' } }],
    ['https://files.example/a.pdf', { type: 'image_url', image_url: { url: 'https://files.example/a.pdf' } }],
    ['https://files.example/b.PDF?x=1', { type: 'file', file: { file_url: 'https://files.example/b.PDF?x=1' } }],
  ])('at %s is file data of Gemini', async (url, part) => {
    expect((await chat(GEMINI, part)).status).toBe(200);
    expect(geminiSent().contents[0]!.parts[0]).toEqual({ fileData: { mimeType: 'application/pdf', fileUri: url } });
  });
});

describe('a PDF in a messages request', () => {
  it.each([DIRECT, VERTEX])('reaches %s as it is', async (model) => {
    const block = { ...document, title: 'T', citations: { enabled: true }, cache_control: { type: 'ephemeral' } };
    expect((await ask('/v1/messages', model, block)).status).toBe(200);
    expect(claudeSent().messages[0]!.content[0]).toEqual(block);
  });
});

describe('what Claude does not take of a PDF', () => {
  const words = (message: string) => ({
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' },
  });
  it.each(
    [
      'messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.',
      'messages.0.content.0.pdf.source.base64.data: The PDF specified is password protected.',
      'messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid.',
      "'claude-3-haiku-20240307' does not support PDF input.",
    ].flatMap((message) => [DIRECT, VERTEX].map((model) => [message, model] as const)),
  )('is a 400 with a message of its own, on both routes: %s (%s)', async (message, model) => {
    refusal = words(message);
    try {
      const asChat = await chat(model, { type: 'file', file: { file_data: uri } });
      expect([asChat.status, JSON.parse(asChat.text)]).toMatchObject([
        400,
        { error: { message, type: 'invalid_request_error' } },
      ]);
      const asMessages = await ask('/v1/messages', model, document);
      expect([asMessages.status, JSON.parse(asMessages.text)]).toMatchObject([
        400,
        { type: 'error', error: { type: 'invalid_request_error', message } },
      ]);
    } finally {
      refusal = undefined;
    }
  });
});

/** A messages request of exactly so many bytes, as it would be sent to `model`'s host. */
function messagesOf(bytes: number, model: string): string {
  const name = model.slice(model.indexOf('/') + 1);
  const body = (data: string, of: string) =>
    JSON.stringify({
      model: of,
      max_tokens: 10,
      messages: [{ role: 'user', content: [{ ...document, source: { ...document.source, data } }] }],
    });
  return body('A'.repeat(bytes - body('', name).length), model);
}

describe('a request larger than 32 MB', () => {
  it('is refused before anything of it is sent to Anthropic’s own API, with both numbers, on both routes', async () => {
    const before = upstream.seen.length;
    const asMessages = await post('/v1/messages', messagesOf(LIMIT + 1, DIRECT));
    const message = `The request has ${LIMIT + 1} bytes after encoding, and the Anthropic API (32 MB) accepts at most ${LIMIT}.`;
    expect([asMessages.status, JSON.parse(asMessages.text)]).toMatchObject([
      413,
      { type: 'error', error: { type: 'request_too_large', message } },
    ]);
    const asChat = await chat(DIRECT, {
      type: 'file',
      file: { file_data: `data:application/pdf;base64,${'A'.repeat(LIMIT)}` },
    });
    expect([asChat.status, JSON.parse(asChat.text)]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
    expect(upstream.seen).toHaveLength(before);
  });

  it('is one that has a byte more, and no other', async () => {
    expect((await post('/v1/messages', messagesOf(LIMIT, DIRECT))).status).toBe(200);
    expect(upstream.seen.at(-1)!.text).toHaveLength(LIMIT);
  });

  it('is one too that became so by the media it names', async () => {
    const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc((LIMIT * 3) / 4)]);
    const media = await startUpstream(
      (_, res) => void res.writeHead(200, { 'content-type': 'image/png' }).end(picture),
    );
    const asked = (model: string) =>
      post(
        '/v1/chat/completions',
        {
          model,
          max_tokens: 10,
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `${media.url}/a.png` } }] }],
        },
        'fetching',
      );
    const before = upstream.seen.length;
    const refused = await asked(DIRECT);
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
    expect(upstream.seen).toHaveLength(before);
    expect((await asked(VERTEX)).status).toBe(200);
    await media.close();
  });

  it('goes to Vertex AI, whose limits are its own, and a fallback that lists 413 finds it', async () => {
    expect((await post('/v1/messages', messagesOf(LIMIT + 1, VERTEX))).status).toBe(200);
    const content = [{ type: 'file', file: { file_data: `data:application/pdf;base64,${'A'.repeat(LIMIT)}` } }];
    const before = upstream.seen.length;
    const { status } = await post(
      '/v1/chat/completions',
      { model: 'any', max_tokens: 10, messages: [{ role: 'user', content }] },
      'roomier',
    );
    expect(status).toBe(200);
    expect(upstream.seen.slice(before).map(({ url }) => url)).toEqual([expect.stringContaining('rawPredict')]);
  });
});
