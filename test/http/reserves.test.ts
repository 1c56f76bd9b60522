import { beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** A window of the model, and a bound of a picture. */
const WINDOW = { gemini: 1_048_576, claude: 200_000, gpt4o: 128_000 };
const PICTURE = 4_784;

let gateway: TestGateway;
beforeAll(async () => {
  // Nothing is sent: every request is refused by its reserve.
  const at = { base_url: 'http://127.0.0.1:9', allow_insecure: true, api_key: '${env:NONE:-upstream-secret-key}' };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'oa', provider: 'openai', ...at },
        { slug: 'oar', provider: 'openai', api: 'responses', ...at },
        { slug: 'an', provider: 'anthropic', ...at },
        { slug: 'ge', provider: 'google-ai-studio', ...at },
      ],
    },
    keys: {
      keys: [
        { id: 'tokens', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '1 tokens', period: 'total' }] },
        { id: 'usd', key: `\${env:NONE:-usd-${KEY}}`, budgets: [{ cap: '0.000000001 USD', period: 'total' }] },
      ],
    },
    prices: {
      prices: [
        { model: 'gpt-3.5-turbo-instruct', usd: { input: 1, output: 1 } },
        { model: 'dear', usd: { input: 1000, output: 1000 } },
      ],
    },
    gateway: {
      answers: { override_params: { generationConfig: { candidateCount: 8 } } },
      cached: { override_params: { cachedContent: 'cachedContents/one' } },
      priority: { override_params: { serviceTier: 'priority' } },
    },
    server: { responses: { store: false } },
  });
  return () => gateway.close();
});

interface Refused {
  readonly unit?: 'tokens' | 'USD';
  readonly config?: string;
}

async function refusalOf(path: string, body: object | FormData, { unit = 'tokens', config }: Refused = {}) {
  const isForm = body instanceof FormData;
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'x-gateway-api-key': unit === 'USD' ? `usd-${KEY}` : KEY,
      ...(config !== undefined && { 'x-gateway-config': config }),
      ...(!isForm && { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body).replaceAll('ESCAPED_', '\\u0066'),
  });
  return { status: reply.status, text: await reply.text() };
}

/** The reserve of a request, in tokens or in USD, as the error of its refusal names it. */
async function reserveOf(
  path: string,
  body: object | FormData,
  unit: Refused['unit'] = 'tokens',
  config?: string,
): Promise<number> {
  const { status, text } = await refusalOf(path, body, { unit, ...(config !== undefined && { config }) });
  const [, amount] = new RegExp(`for which ([\\d.]+) ${unit} would be reserved`).exec(text) ?? [];
  expect([status, amount, text]).toEqual([429, expect.any(String), expect.any(String)]);
  return Number(amount);
}

const CHAT = '/v1/chat/completions';
const GEMINI = '/v1beta/models/@ge/gemini-2.5-flash:generateContent';
const chat = (part: object, more: object = {}) => ({
  model: '@oa/gpt-4o',
  max_tokens: 1,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, part] }],
  ...more,
});
const messages = (part: object) => ({
  model: '@an/claude-haiku-4-5',
  max_tokens: 1,
  messages: [{ role: 'user', content: [part] }],
});
const gemini = (part: object, more: object = {}) => ({
  contents: [{ role: 'user', parts: [{ text: 'What is it?' }, part] }],
  generationConfig: { maxOutputTokens: 1 },
  ...more,
});
const responses = (part: object, more: object = {}) => ({
  model: '@oar/gpt-4o',
  max_output_tokens: 16,
  input: [{ role: 'user', content: [part] }],
  ...more,
});
const COMPLETIONS = { model: '@oa/gpt-3.5-turbo-instruct', max_tokens: 100 };
const EMBEDDINGS = { model: '@oa/text-embedding-3-small' };
const texts = (number: number, length: number) => Array.from({ length: number }, () => 'a'.repeat(length));

describe('the reserve of a request is no less than its highest bill', () => {
  it.each<[string, string, object, number]>([
    [
      'a film at an address',
      GEMINI,
      gemini({ fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' } }),
      WINDOW.gemini,
    ],
    [
      'a file in snake case',
      GEMINI,
      gemini({ file_data: { mime_type: 'application/pdf', file_uri: 'gs://b/a.pdf' } }),
      WINDOW.gemini,
    ],
    [
      'a file under an escaped key',
      GEMINI,
      gemini({ ESCAPED_ileData: { mimeType: 'video/mp4', ESCAPED_ileUri: 'gs://b/a.mp4' } }),
      WINDOW.gemini,
    ],
    ['a stored cache', GEMINI, gemini({ text: '' }, { cachedContent: 'cachedContents/one' }), WINDOW.gemini],
    [
      'a picture at an address',
      CHAT,
      chat({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
      PICTURE,
    ],
    ['a picture as a text', CHAT, chat({ type: 'image_url', image_url: 'https://example.com/a.png' }), PICTURE],
    [
      'a film of a bucket to Gemini',
      CHAT,
      chat({ type: 'image_url', image_url: { url: 'gs://b/a.mp4' } }, { model: '@ge/gemini-2.5-flash' }),
      WINDOW.gemini,
    ],
    ['a stored file', CHAT, chat({ type: 'file', file: { file_id: 'file-1' } }), WINDOW.gpt4o],
    [
      'a document at an address',
      '/v1/messages',
      messages({ type: 'document', source: { type: 'url', url: 'https://example.com/{a}.pdf' } }),
      WINDOW.claude,
    ],
    [
      'a picture whose address comes first',
      '/v1/messages',
      messages({ type: 'image', source: { url: 'https://example.com/{', type: 'url' } }),
      PICTURE,
    ],
    [
      'a document in a result of a tool',
      '/v1/messages',
      messages({
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }],
      }),
      WINDOW.claude,
    ],
    [
      'a file of Responses at an address',
      '/v1/responses',
      responses({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
      WINDOW.gpt4o,
    ],
    ['a stored file of Responses', '/v1/responses', responses({ type: 'input_file', file_id: 'file-1' }), WINDOW.gpt4o],
    [
      'a stored prompt',
      '/v1/responses',
      responses({ type: 'input_text', text: 'a' }, { prompt: { id: 'pmpt_1' } }),
      WINDOW.gpt4o,
    ],
    ['a list of texts longer than a window', '/v1/embeddings', { ...EMBEDDINGS, input: texts(100, 4000) }, 100 * 1000],
    [
      'lists of tokens',
      '/v1/embeddings',
      { ...EMBEDDINGS, input: Array.from({ length: 50 }, () => Array.from({ length: 500 }, () => 1)) },
      50 * 500,
    ],
    ['a list of prompts', '/v1/completions', { ...COMPLETIONS, prompt: texts(200, 1) }, 200 * 100],
    ['a list of prompts as tokens', '/v1/completions', { ...COMPLETIONS, prompt: [[1], [2], [3]] }, 3 * 100],
    [
      'answers as a text',
      GEMINI,
      gemini({ text: '' }, { generationConfig: { maxOutputTokens: 100, candidateCount: '8' } }),
      8 * 100,
    ],
    [
      'answers in extra_body',
      CHAT,
      chat({ type: 'text', text: '' }, { extra_body: { n: 5 }, max_tokens: 100 }),
      5 * 100,
    ],
    [
      'a longer answer in extra_body',
      CHAT,
      chat({ type: 'text', text: '' }, { extra_body: { max_tokens: 9000 } }),
      9000,
    ],
    [
      'a length that only extra_body has',
      CHAT,
      { ...chat({ type: 'text', text: '' }), max_tokens: undefined, extra_body: { max_tokens: 1 } },
      16_000,
    ],
    [
      'a length at the top level of Gemini',
      GEMINI,
      { contents: gemini({ text: '' }).contents, maxOutputTokens: 1 },
      65_000,
    ],
  ])('%s', async (_, path, body, least) => {
    expect(await reserveOf(path, body)).toBeGreaterThanOrEqual(least);
  });

  it.each<[string, string, object]>([
    [
      'a tool with an argument that is called like one',
      CHAT,
      chat(
        { type: 'text', text: 'a' },
        {
          tools: [
            {
              type: 'function',
              function: {
                name: 'open',
                parameters: { type: 'object', properties: { url: { type: 'string' }, file_id: { type: 'string' } } },
              },
            },
          ],
        },
      ),
    ],
    [
      'a call with an address',
      '/v1/messages',
      messages({ type: 'tool_use', id: 'a', name: 'fetch', input: { url: 'https://example.com', file_id: 'a' } }),
    ],
    ['a text that quotes one', CHAT, chat({ type: 'text', text: '{"file_id":"a"} \\u0066ile_id' })],
    ['a picture in the body', CHAT, chat({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } })],
  ])('is not that of a medium at an address for %s', async (_, path, body) => {
    expect(await reserveOf(path, body)).toBeLessThan(600);
  });

  it.each(['edits', 'variations'])('all pictures of a form: images/%s', async (operation) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: '@oa/gpt-image-1', prompt: 'a', n: '10' }))
      form.set(name, value);
    form.set('image', new Blob([new Uint8Array(100)]), 'a.png');
    // 6,240 tokens each, at 40 USD a million.
    expect(await reserveOf(`/v1/images/${operation}`, form, 'USD')).toBeGreaterThanOrEqual((10 * 6_240 * 40) / 1e6);
  });

  it('the number of pictures behind a file that is still arriving', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: '@oa/gpt-image-1', prompt: 'a' })) form.set(name, value);
    form.set('image', new Blob([new Uint8Array(4_000_000)]), 'a.png');
    form.set('n', '10');
    expect(await reserveOf('/v1/images/edits', form, 'USD')).toBeGreaterThanOrEqual((10 * 6_240 * 40) / 1e6);
  });

  const hello = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
  const DOORS: readonly (readonly [string, object])[] = [
    [CHAT, { model: '@ge/gemini-2.5-flash', ...hello }],
    ['/v1/messages', { model: '@ge/gemini-2.5-flash', ...hello }],
    ['/v1/responses', { model: '@ge/gemini-2.5-flash', input: 'hi', max_output_tokens: 100 }],
    [GEMINI, gemini({ text: '' }, { generationConfig: { maxOutputTokens: 100 } })],
  ];
  it.each(DOORS)('what a config asks for in the words of Gemini: %s', async (path, body) => {
    expect(await reserveOf(path, body, 'tokens', 'answers')).toBeGreaterThanOrEqual(8 * 100);
    expect(await reserveOf(path, body, 'tokens', 'cached')).toBeGreaterThanOrEqual(WINDOW.gemini);
    const { status, text } = await refusalOf(path, body, { unit: 'USD', config: 'priority' });
    expect([status, text]).toEqual([403, expect.stringContaining('is not known (tier)')]);
  });

  it.each(['models', 'fallbacks'])('the dearest model that an upstream may call: %s', async (field) => {
    const body = chat({ type: 'text', text: 'a' }, { [field]: ['dear'], max_tokens: 100 });
    expect(await reserveOf(CHAT, body, 'USD')).toBeGreaterThanOrEqual(0.1);
  });

  it.each(['generationConfig', 'generation_config'])('a limit that %s has twice is refused', async (name) => {
    const reply = await fetch(gateway.url + GEMINI, {
      method: 'POST',
      headers: { 'x-gateway-api-key': KEY, 'content-type': 'application/json' },
      body: `{"contents":[],"${name}":{"maxOutputTokens":90000,"maxOutputTokens":1}}`,
    });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('twice')]);
  });

  it('the models of its tools, beside that of the request', async () => {
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'dear' }];
    const body = { ...messages({ type: 'text', text: 'a' }), max_tokens: 100, tools };
    expect(await reserveOf('/v1/messages', body, 'USD')).toBeGreaterThanOrEqual(0.1);
  });

  it('a further model without a price is refused by its name', async () => {
    const reply = await fetch(gateway.url + CHAT, {
      method: 'POST',
      headers: { 'x-gateway-api-key': `usd-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat({ type: 'text', text: 'a' }, { models: ['unheard-of'] })),
    });
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining('unheard-of')]);
  });
});
