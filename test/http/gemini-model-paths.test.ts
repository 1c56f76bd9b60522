import { connect } from 'node:net';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { GoogleGenAI } from '@google/genai';
import { generateText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  geminiReply,
  json,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Names of models in the paths of Google's API: with slashes, encoded or not, as clients write them; and hostile ones. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res) => {
    if (url.includes(':streamGenerateContent')) return sse(res, [`data: ${JSON.stringify(geminiReply('Hi'))}\r\n\r\n`]);
    if (url.includes(':generateContent')) return json(res, geminiReply('Hi'));
    if (url.includes(':countTokens')) return json(res, { totalTokens: 7 });
    if (url.includes(':batchEmbedContents')) return json(res, { embeddings: [{ values: [0.5] }] });
    if (url.includes('/embeddings'))
      return json(res, { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }] });
    if (url.includes('/messages')) return json(res, anthropicReply('Hi'));
    return json(res, { ...openaiReply('Hi'), model: body['model'] });
  });
  const at = { base_url: upstream.url, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'studio', provider: 'google-ai-studio', api_key: '${env:NONE:-AIza-key}', ...at },
        { slug: 'hub', provider: 'openai', ...at, base_url: `${upstream.url}/v1` },
        { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-claude-key}', ...at },
        { slug: 'vertex', provider: 'vertex-ai', project_id: 'own-project', region: 'us-central1', ...at },
      ],
      aliases: { 'team/fast': { target: '@studio/gemini-x' } },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** On a bare socket: clients of HTTP rewrite what they send. */
async function post(target: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
  const { port, host } = gateway.gateway.data;
  const socket = connect(port, host);
  const bytes = JSON.stringify(body);
  const head = `POST ${target} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nx-goog-api-key: ${KEY}\r\nauthorization: Bearer ya29.caller\r\n`;
  socket.write(Buffer.from(`${head}content-length: ${bytes.length}\r\nconnection: close\r\n\r\n${bytes}`, 'latin1'));
  let text = '';
  for await (const piece of socket) text += String(piece);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
const METHODS: Readonly<Record<string, object>> = {
  generateContent: { contents },
  'streamGenerateContent?alt=sse': { contents },
  streamGenerateContent: { contents },
  countTokens: { contents },
  embedContent: { content: contents[0] },
  predict: { instances: [{ content: 'Hi' }] },
};
const IN_PROJECT = '/v1/projects/p/locations/l/publishers';

/** Each spelling of one model, before the method. */
const spellings = (slug: string, model: string): readonly string[] => {
  const encoded = encodeURIComponent(`@${slug}/${model}`);
  return [
    `/v1beta/models/@${slug}/${model}`,
    `/v1/models/${encoded}`,
    `/v1alpha/models/@${slug}%2f${model}`,
    `/v1beta/@${slug}/${model}`,
    `/v1beta/${encoded}`,
    `/V1/%40${slug}/${model}`,
    `/v1/publishers/google/models/@${slug}/${model}`,
    `/v1beta1/publishers/google/models/${encoded}`,
    `${IN_PROJECT}/google/models/@${slug}/${model}`,
    `${IN_PROJECT}/google/models/${encoded}`,
    `${IN_PROJECT}/@${slug}/models/${model}`,
    `/v1/publishers/%40${slug}/models/${model}`,
  ];
};

describe('a model of another entry in the path', () => {
  it.each(Object.entries(METHODS))('reaches its entry in every spelling: %s', async (method, body) => {
    for (const path of spellings('studio', 'gemini-x')) {
      const before = upstream.seen.length;
      const [name = '', query = ''] = method.split('?');
      const { status, text } = await post(`${path}:${name}${query && `?${query}`}`, body);
      const sent = upstream.seen.slice(before).map(({ url }) => url.split(':')[0]);
      // A model of this name makes no embeddings: the entry is found, and the refusal is its own.
      if (/embed|predict/.test(name)) expect([status, /model \\"gemini-x\\"/.test(text)], path).toEqual([400, true]);
      else expect([status, sent], path).toEqual([200, ['/v1beta/models/gemini-x']]);
    }
  });

  it.each(['meta-llama/Llama-3', 'a:b@c/d'])('may have slashes and colons of its own: %s', async (model) => {
    for (const path of spellings('hub', model)) {
      // Google's client writes so and loses what follows a second slash.
      const { status } = await post(`${path}:generateContent`, { contents });
      expect([status, upstream.seen.at(-1)!.json['model']], path).toEqual([200, model]);
    }
  });

  it.each([
    ['/v1/models/team/fast:generateContent', 200],
    ['/v1/models/team%2Ffast:generateContent', 200],
    ['/v1/publishers/google/models/team/fast:generateContent', 200],
    // Google's client in Vertex AI's form.
    ['/v1/publishers/team/models/fast:generateContent', 200],
    ['/v1/team/fast:generateContent', 404],
  ])('may be an alias with a slash: %s', async (path, status) => {
    expect((await post(path, { contents })).status).toBe(status);
  });

  it.each(['rawPredict', 'streamRawPredict'])('is named so by Anthropic’s client: %s', async (method) => {
    const body = { anthropic_version: 'vertex-2023-10-16', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
    for (const model of ['@claude/claude-x', encodeURIComponent('@claude/claude-x')]) {
      await post(`${IN_PROJECT}/anthropic/models/${model}:${method}`, body);
      expect(upstream.seen.at(-1)).toMatchObject({ url: '/v1/messages', json: { model: 'claude-x' } });
    }
  });

  it('is named so by the AI SDK and by Google’s client', async () => {
    const google = createGoogleGenerativeAI({ baseURL: `${gateway.url}/v1beta`, apiKey: KEY });
    expect((await generateText({ model: google('@studio/gemini-x'), prompt: 'Hi' })).text).toBe('Hi');
    for (const vertexai of [false, true]) {
      const client = new GoogleGenAI({
        vertexai,
        apiKey: KEY,
        httpOptions: { baseUrl: gateway.url, headers: { authorization: 'Bearer ya29.caller' } },
      });
      const reply = await client.models.generateContent({ model: '@studio/gemini-x', contents: 'Hi' });
      expect(reply.text).toBe('Hi');
    }
  });
});

describe('a hostile path', () => {
  const NAMES = [
    '..',
    '../x',
    '@studio/..',
    '@studio/../x',
    '@studio/../../v1/chat',
    '@hub/../x',
    '@hub/a/../b',
    '%2e%2e',
    '%2e%2e/x',
    '@studio/%2e%2e',
    '@studio/%2e%2e%2fx',
    '@hub/%2e%2e/x',
    '@studio%2f%2e%2e%2f%2e%2e',
    'x%00',
    '@studio/x%00',
    '@hub/x%00y',
    '@hub/%0d%0a',
    '@studio/%5c..%5cx',
    '@hub/a%5cb',
    '@studio/x%3Fkey=y',
    '@studio/x%23y',
    '@studio//x',
    '@studio/',
    '@/x',
    '@',
    '@studio',
    '@studio%252fx',
    '@nowhere/x',
    '@studio/%',
    '@studio/%zz',
    '@studio/%ff',
    '@studio/%c0%ae%c0%ae',
    `@studio/${'x'.repeat(300)}`,
    `@hub/${'x/'.repeat(200)}`,
    `@studio/${'x'.repeat(100_000)}`,
  ];
  const PREFIXES = [
    '/v1beta/models/',
    '/v1/models/',
    '/v1beta/',
    '/v1/publishers/google/models/',
    `${IN_PROJECT}/google/models/`,
    `${IN_PROJECT}/anthropic/models/`,
  ];

  it.each(NAMES.map((name) => [name.slice(0, 40), name] as const))('is refused: %s', async (_, name) => {
    const before = upstream.seen.length;
    for (const prefix of PREFIXES) {
      for (const method of [
        'generateContent',
        'streamGenerateContent',
        'countTokens',
        'embedContent',
        'predict',
        'rawPredict',
      ]) {
        const { status } = await post(`${prefix}${name}:${method}`, {
          ...METHODS['generateContent'],
          ...METHODS['embedContent'],
          ...METHODS['predict'],
          max_tokens: 5,
          messages: [{ role: 'user', content: 'Hi' }],
        });
        expect([400, 404, 405, 431, 501], `${prefix}${name}:${method}`.slice(0, 200)).toContain(status);
      }
    }
    expect(upstream.seen.slice(before).map(({ url }) => url)).toEqual([]);
  });

  it('that is encoded twice is one segment of the upstream’s path, decoded once', async () => {
    const { status } = await post('/v1beta/models/@studio/a%252F%252e%252e%252Fb:generateContent', { contents });
    expect([status, upstream.seen.at(-1)!.url]).toEqual([200, '/v1beta/models/a%252F%252e%252e%252Fb:generateContent']);
  });

  it.each([
    '/v1/@studio/gemini-x',
    '/v1/@studio/gemini-x:',
    '/v2/@studio/gemini-x:generateContent',
    '/@studio/gemini-x:generateContent',
    '/v1beta/x/@studio/gemini-x:generateContent',
    '/v1beta/studio/gemini-x:generateContent',
    '/v1/chat/@studio/completions',
  ])('without its meaning stays a 404: %s', async (path) => {
    expect((await post(path, { contents })).status).toBe(404);
  });
});
