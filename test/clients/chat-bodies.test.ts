import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CALLER_TOKEN,
  CLAUDE,
  FLASH,
  fn,
  geminiParts,
  GEMINI_3,
  startHouse,
  user,
  type House,
  type Json,
} from '../http/details.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { anthropicReply, geminiReply } from '../support/upstream.ts';
import { portkeyOf } from './drivers/portkey.ts';
import { PNG } from './words.ts';

/** Fields of chat requests that OpenAI's API does not have, from portkey-ai and from `openai`: what reaches the upstream and what comes back. */

let house: House;
beforeAll(async () => {
  house = await startHouse({ server: { header_prefixes: ['gateway', 'portkey'] } });
});
afterAll(() => house.close());

/** A caller whose entry has a project and a region only, so that it brings its own Google token. */
const portkey = () =>
  portkeyOf(
    { baseUrl: house.gateway.url, key: KEY },
    { Authorization: `Bearer ${CALLER_TOKEN}`, strictOpenAiCompliance: false },
  );

const openai = () =>
  new OpenAI({
    baseURL: `${house.gateway.url}/v1`,
    apiKey: KEY,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-api-key': KEY,
      authorization: `Bearer ${CALLER_TOKEN}`,
      'x-gateway-strict-open-ai-compliance': 'false',
    },
  });

/** The types of the SDK are those of OpenAI's API, so a field beyond it needs a cast in an application, too. */
type OpenAiBody = OpenAI.ChatCompletionCreateParamsNonStreaming;

const CLIENTS = [
  {
    name: 'portkey-ai',
    create: async (body: object): Promise<Json> => portkey().chat.completions.create(body),
  },
  {
    name: 'openai',
    create: async (body: object): Promise<Json> =>
      (await openai().chat.completions.create(body as OpenAiBody)) as unknown as Json,
  },
] as const;

const messageOf = ({ choices }: Json): Json => (choices as { message: Json }[])[0]!.message;
const seen = (name: string): unknown => house.seen().json[name];
const config = () => seen('generationConfig') as Json;
const partsOf = (content: unknown): unknown => (content as { parts: unknown }[])[0]!.parts;

describe.each(CLIENTS)('$name', ({ create }) => {
  const ask = (body: object): Promise<Json> => create({ model: FLASH, messages: [user('Hi')], ...body });

  it('turns thinking off with a budget of 0', async () => {
    house.answers(geminiReply('hi'));
    await ask({ thinking: { type: 'enabled', budget_tokens: 0 } });
    expect(config()['thinkingConfig']).toMatchObject({ thinkingBudget: 0 });
  });

  it('sees thoughts as `content_blocks`, and sends those of Claude back with their signature', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'text', text: 'Yes.' },
    ];
    house.answers({ ...anthropicReply(''), content }, anthropicReply('ok'));
    const body = { model: CLAUDE, max_tokens: 4000, thinking };
    const message = messageOf(await ask(body));
    expect(message['content_blocks']).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, {}]);
    await ask({ ...body, messages: [user('Hi'), message, user('Sure?')] });
    expect((seen('messages') as Json[])[1]).toEqual({ role: 'assistant', content });
  });

  it('labels its costs', async () => {
    house.answers(geminiReply('hi'));
    await ask({ labels: { team: 'search' } });
    expect(seen('labels')).toEqual({ team: 'search' });
  });

  it('gets an image as `content_parts`, and sends it back to be edited', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: PNG } };
    house.answers(geminiParts({ text: 'A cat.' }, image), geminiReply('ok'));
    const body = { model: '@gemini/gemini-2.5-flash-image', modalities: ['text', 'image'] };
    const message = messageOf(await ask(body));
    expect(config()['responseModalities']).toEqual(['TEXT', 'IMAGE']);
    expect(message['content_parts']).toContainEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${PNG}` },
    });
    await ask({ ...body, messages: [user('A cat'), message, user('In red')] });
    expect((seen('contents') as Json[])[1]).toEqual({ role: 'model', parts: [{ text: 'A cat.' }, image] });
  });

  it.each([
    ['an image as data', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }, 'inlineData'],
    ['a video in Cloud Storage', { type: 'image_url', image_url: { url: 'gs://bucket/a.mp4' } }, 'fileData'],
    ['sound at an address', { type: 'image_url', image_url: { url: 'https://media.example/a.mp3' } }, 'fileData'],
    [
      'a PDF as a file',
      {
        type: 'file',
        file: { mime_type: 'application/pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-')}` },
      },
      'inlineData',
    ],
  ])('sends %s', async (_, part, kind) => {
    house.answers(geminiReply('I see.'));
    const reply = await ask({ messages: [user([{ type: 'text', text: 'What is this?' }, part])] });
    expect(messageOf(reply)['content']).toBe('I see.');
    expect(partsOf(seen('contents'))).toMatchObject([
      { text: 'What is this?' },
      { [kind]: expect.anything() as object },
    ]);
  });

  it('searches the web, and reads the sources of the answer', async () => {
    const reply = geminiParts({ text: 'Sun in Oslo.' });
    Object.assign((reply['candidates'] as object[])[0]!, {
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://h/a', title: 'A' } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 3, text: 'Sun' }, groundingChunkIndices: [0] }],
      },
    });
    house.answers(reply);
    const message = messageOf(await ask({ tools: [fn('web_search')] }));
    expect(seen('tools')).toEqual([{ googleSearch: {} }]);
    expect(message['annotations']).toMatchObject([{ url_citation: { url: 'https://h/a' } }]);
  });

  it('opens a browser, and reports what it sees there', async () => {
    const action = { functionCall: { name: 'open_web_browser', args: {} } };
    house.answers(geminiParts(action), geminiReply('It is 3 euros.'));
    const environment = { environment: 'ENVIRONMENT_BROWSER' };
    const body = { model: '@gemini/gemini-2.5-computer-use-preview-10-2025', tools: [fn('computer_use', environment)] };
    const message = messageOf(await ask(body));
    expect(seen('tools')).toEqual([{ computerUse: environment }]);
    expect(message['tool_calls']).toMatchObject([{ function: { name: 'open_web_browser', arguments: '{}' } }]);
    const end = await ask({ ...body, messages: [user('Hi'), message, user('The browser is open.')] });
    expect(messageOf(end)['content']).toBe('It is 3 euros.');
    expect((seen('contents') as { parts: object[] }[])[2]!.parts).toMatchObject([
      { functionResponse: { name: 'open_web_browser' } },
    ]);
  });

  it('sends the signature of a call of the third generation back', async () => {
    const call = { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln' };
    house.answers(geminiParts(call), geminiReply('Rain.'));
    const body = { model: GEMINI_3, tools: [fn('weather', { type: 'object', properties: {} })] };
    const message = messageOf(await ask(body));
    const [made] = message['tool_calls'] as { id: string; function: Json }[];
    expect(made?.function['thought_signature']).toBe('c2ln');
    await ask({ ...body, messages: [user('Hi'), message, { role: 'tool', tool_call_id: made?.id, content: 'rain' }] });
    expect((seen('contents') as Json[])[1]).toEqual({ role: 'model', parts: [call] });
  });
});

it('openai makes vectors for a task, which its types do not have', async () => {
  house.answers({ predictions: [{ embeddings: { values: [1, 2], statistics: { token_count: 3 } } }] });
  const body = { model: '@gemini/text-embedding-005', input: 'Hi', task_type: 'CLASSIFICATION' };
  const { data } = await openai().embeddings.create(body);
  expect(data.map(({ embedding }) => embedding)).toEqual([[1, 2]]);
  expect(seen('instances')).toEqual([{ content: 'Hi', task_type: 'CLASSIFICATION' }]);
});

it('openai counts tokens of a chat request by its own `post`', async () => {
  house.answers({ totalTokens: 7 });
  const body = { model: FLASH, messages: [user('Hi')] };
  expect(await openai().post('/chat/completions/count_tokens', { body })).toEqual({
    object: 'chat.completion.input_tokens',
    input_tokens: 7,
  });
});
