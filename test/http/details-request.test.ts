import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { anthropicReply, geminiReply, json } from '../support/upstream.ts';
import {
  CALLER_TOKEN,
  CLAUDE,
  FLASH,
  fn,
  GEMINI_3,
  LAX,
  startHouse,
  user,
  type House,
  type Json,
} from './details.testkit.ts';

/**
 * Fields of a chat request beyond OpenAI's (docs/protocols/openai-chat.md#request-fields, docs/protocols/openai-chat.md#media-addresses).
 */

let house: House;
beforeAll(async () => {
  house = await startHouse({
    gateway: {
      labelled: { provider: '@gemini', override_params: { labels: { team: 'search', stage: 'prod' } } },
      derived: { provider: '@gemini', metadata: { labels: true } },
      capped: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5', max_tokens: 7 } },
      lax: { provider: '@gemini', strict_open_ai_compliance: false },
    },
  });
});
afterAll(() => house.close());
beforeEach(() => {
  house.plays((request, res) =>
    json(
      res,
      request.url.includes('anthropic') || request.url.includes('messages') ? anthropicReply('hi') : geminiReply('hi'),
    ),
  );
});

const sent = (name: string) => house.seen().json[name];
const config = () => sent('generationConfig') as Json;
const parts = () => (sent('contents') as { parts: Json[] }[])[0]!.parts;
const blocks = () => (sent('messages') as { content: Json[] }[])[0]!.content;
const dropped = (headers: Headers) => headers.get('x-gateway-dropped-params');
/** Paths of requests to the upstream so far. */
const asked = () => house.upstream.seen.length;

describe('a limit that a config sets', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

  it.each<[string, object]>([
    ['/v1/chat/completions', { messages: [user('hi')], max_completion_tokens: 90_000 }],
    ['/v1/messages', { messages: [user('hi')], max_tokens: 90_000 }],
    ['/v1/responses', { input: 'hi', max_output_tokens: 90_000 }],
    ['/v1beta/models/any:generateContent', { contents, generationConfig: { maxOutputTokens: 60_000 } }],
    ['/v1beta/models/any:generateContent', { contents, generation_config: { max_output_tokens: 60_000 } }],
  ])('holds at the door %s', async (path, body) => {
    const reply = await fetch(house.gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'capped' },
      body: JSON.stringify({ model: 'any', ...body }),
    });
    expect([reply.status, house.seen().json['max_tokens']]).toEqual([200, 7]);
  });
});

describe('a thinking budget of 0', () => {
  const thinking = { type: 'enabled', budget_tokens: 0 };

  it('stops a model of the second generation', async () => {
    const { headers } = await house.chat({ model: FLASH, thinking }, LAX);
    expect(config()['thinkingConfig']).toEqual({ thinkingBudget: 0, includeThoughts: false });
    expect(dropped(headers)).toBeNull();
  });

  it.each([
    ['2.5 Pro thinks as little as it can', '@gemini/gemini-2.5-pro', { thinkingBudget: 128 }],
    ['the third generation too', GEMINI_3, { thinkingLevel: 'MINIMAL' }],
  ])('is more than none where there must be some, and said to be: %s', async (_, model, wire) => {
    const { headers } = await house.chat({ model, thinking }, LAX);
    expect(config()['thinkingConfig']).toMatchObject(wire);
    expect(dropped(headers)).toContain('thinking');
  });

  it('is no thinking for Claude, which takes no such budget', async () => {
    await house.chat({ model: CLAUDE, thinking }, LAX);
    expect([undefined, 'disabled']).toContain((sent('thinking') as Json | undefined)?.['type']);
  });
});

describe('cost labels', () => {
  const labels = { team: 'ads', cost_centre: '42' };

  it('of the body go to Vertex as they are', async () => {
    expect(dropped((await house.chat({ model: FLASH, labels })).headers)).toBeNull();
    expect(sent('labels')).toEqual(labels);
  });

  it('of the body that Google would refuse are a 400 that names the label', async () => {
    const { status, body } = await house.chat({ model: FLASH, labels: { Team: 'ads' } });
    expect([status, (body['error'] as Json)['param']]).toEqual([400, 'labels.Team']);
  });

  it('of override_params win key by key', async () => {
    await house.chat({ model: 'gemini-2.5-flash', labels }, { 'x-gateway-config': 'labelled' });
    expect(sent('labels')).toEqual({ team: 'search', stage: 'prod', cost_centre: '42' });
  });

  it('made of metadata are in Google’s spelling, and those of the body win', async () => {
    const headers = { 'x-gateway-config': 'derived', 'x-gateway-metadata': '{"Team":"Search Team","_user":"Ann"}' };
    await house.chat({ model: 'gemini-2.5-flash' }, headers);
    expect(sent('labels')).toEqual({ team: 'search_team', k__user: 'ann' });
    await house.chat({ model: 'gemini-2.5-flash', labels }, headers);
    expect(sent('labels')).toEqual({ ...labels, k__user: 'ann' });
  });

  it('made of metadata are in a body of Gemini’s own API, too', async () => {
    const send = (body: object) =>
      fetch(`${house.gateway.url}/v1beta/models/gemini-2.5-flash:generateContent`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': KEY,
          authorization: CALLER_TOKEN,
          'x-gateway-config': 'derived',
          'x-gateway-metadata': '{"Team":"Search Team"}',
        },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...body }),
      });
    expect((await send({})).status).toBe(200);
    expect(sent('labels')).toEqual({ team: 'search_team' });
    await send({ labels });
    expect(sent('labels')).toEqual(labels);
  });

  it('are reported as lost if the target has none', async () => {
    expect(dropped((await house.chat({ model: CLAUDE, labels })).headers)).toContain('labels');
    expect(house.seen().json).not.toHaveProperty('labels');
  });
});

describe('an entry without credentials of its own', () => {
  it.each([
    ['with', `Bearer ${CALLER_TOKEN}`],
    ['without', CALLER_TOKEN],
    ['in small letters with', `bearer ${CALLER_TOKEN}`],
  ])('takes the caller’s token, sent %s its scheme', async (_, authorization) => {
    expect((await house.chat({ model: FLASH }, { authorization })).status).toBe(200);
    expect(house.seen().headers.authorization).toBe(`Bearer ${CALLER_TOKEN}`);
  });

  it('asks for a token where the caller has sent none, and asks no upstream', async () => {
    const before = asked();
    const answer = await house.chat({ model: FLASH }, { authorization: '' });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('Authorization');
    expect(asked()).toBe(before);
  });

  it('is never sent a caller’s token that an entry with a key has no use for', async () => {
    await house.chat({ model: CLAUDE });
    expect(JSON.stringify(house.seen().headers)).not.toContain(CALLER_TOKEN);
  });
});

/** All rows of the table (docs/protocols/requests.md#mime-types). */
const MIME: readonly (readonly [string, string])[] = [
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['bmp', 'image/bmp'],
  ['tiff', 'image/tiff'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['avi', 'video/avi'],
  ['wmv', 'video/wmv'],
  ['flv', 'video/x-flv'],
  ['webm', 'video/webm'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['3gp', 'video/3gpp'],
  ['mkv', 'video/x-matroska'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['m4a', 'audio/m4a'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['pcm', 'audio/pcm'],
  ['mpga', 'audio/mpeg'],
];
const media = (url: string) => [
  user([
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url } },
  ]),
];

describe('media by URL', () => {
  it.each(MIME)('that end in .%s are %s to Gemini', async (extension, mimeType) => {
    for (const url of [
      `gs://bucket/a.b/file.${extension}`,
      `https://files.example/v1.0/${extension.toUpperCase()}.${extension.toUpperCase()}?sig=x.y&a=/z.exe#part.zip`,
    ]) {
      expect((await house.chat({ model: FLASH, messages: media(url) })).status).toBe(200);
      expect(parts()[1]).toEqual({ fileData: { mimeType, fileUri: url } });
    }
  });

  it.each(['https://files.example/abc123', 'https://files.example/a?name=b.png', 'gs://bucket/file.xyz', 'cat.png'])(
    'of an unknown type are a 400: %s',
    async (url) => {
      const { status, body } = await house.chat({ model: FLASH, messages: media(url) });
      expect([status, String((body['error'] as Json)['param'])]).toEqual([
        400,
        expect.stringMatching(/^messages\[0\]\.content\[1\]/),
      ]);
    },
  );

  it('may say their type themselves', async () => {
    const image_url = { url: 'https://files.example/abc123', mime_type: 'application/pdf' };
    await house.chat({ model: FLASH, messages: [user([{ type: 'image_url', image_url }])] });
    expect(parts()[0]).toEqual({ fileData: { mimeType: 'application/pdf', fileUri: image_url.url } });
  });

  it('keep what a data URI says of their sound, and tell where Google has no place for it', async () => {
    const sound = media('data:audio/pcm;rate=16000;base64,QUJD');
    expect(dropped((await house.chat({ model: FLASH, messages: sound })).headers)).toBeNull();
    expect(parts()[1]).toEqual({ inlineData: { mimeType: 'audio/pcm;rate=16000', data: 'QUJD' } });
    const named = await house.chat({ model: FLASH, messages: media('data:image/png;name=a.png;base64,QUJD') });
    expect(dropped(named.headers)).toBe('messages[0].content[1]');
    expect(parts()[1]).toEqual({ inlineData: { mimeType: 'image/png', data: 'QUJD' } });
  });

  it('are a 400 to Claude, which is sent base64 only', async () => {
    const before = asked();
    const { status, text } = await house.chat({ model: CLAUDE, messages: media('https://files.example/a.png') });
    expect([status, asked()]).toEqual([400, before]);
    expect(text).toContain('messages[0].content[1]');
  });
});

describe('a PDF', () => {
  const DATA = 'JVBERi0xLjQK';
  const uri = `data:application/pdf;base64,${DATA}`;
  const ways: [string, Json][] = [
    ['a file with a data URI', { type: 'file', file: { mime_type: 'application/pdf', file_data: uri } }],
    ['a file with bare base64', { type: 'file', file: { mime_type: 'application/pdf', file_data: DATA } }],
    ['a file with a name', { type: 'file', file: { filename: 'a.pdf', file_data: uri } }],
    ['an image_url', { type: 'image_url', image_url: { url: uri } }],
  ];

  it.each(ways)('as %s reaches Gemini', async (_, part) => {
    expect(
      (await house.chat({ model: FLASH, messages: [user([part, { type: 'text', text: 'Sum up.' }])] })).status,
    ).toBe(200);
    expect(parts()).toEqual([{ inlineData: { mimeType: 'application/pdf', data: DATA } }, { text: 'Sum up.' }]);
  });

  it.each(ways)('as %s reaches Claude', async (_, part) => {
    expect(
      (await house.chat({ model: CLAUDE, messages: [user([part, { type: 'text', text: 'Sum up.' }])] })).status,
    ).toBe(200);
    expect(blocks()).toMatchObject([
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: DATA } },
      { type: 'text', text: 'Sum up.' },
    ]);
  });
});

describe('cache markers', () => {
  const marked = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });
  const body = {
    tools: [{ ...fn('f', { type: 'object', properties: {} }), ...marked('1h') }],
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Long.', ...marked('1h') }] },
      user([
        { type: 'text', text: 'Hello.', ...marked('5m') },
        { type: 'text', text: 'Bye.', ...marked() },
      ]),
    ],
  };

  it('reach Claude with their time to live', async () => {
    const { headers } = await house.chat({ model: CLAUDE, ...body });
    expect(sent('tools')).toMatchObject([marked('1h')]);
    expect(sent('system')).toEqual([{ type: 'text', text: 'Long.', ...marked('1h') }]);
    expect(blocks()).toEqual([
      { type: 'text', text: 'Hello.', ...marked('5m') },
      { type: 'text', text: 'Bye.', ...marked() },
    ]);
    expect(dropped(headers)).toBeNull();
  });

  it('are each said to be lost on the way to Gemini', async () => {
    const { headers } = await house.chat({ model: FLASH, ...body });
    expect(house.seen().text).not.toContain('ephemeral');
    for (const place of ['tools[0].cache_control', 'messages[0].content[0].cache_control', 'messages[1].content[1]'])
      expect(dropped(headers)).toContain(place);
  });
});

describe('the compliance flag', () => {
  const thought = (): void => {
    house.answers({
      ...geminiReply(''),
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Yes.' }] }, finishReason: 'STOP' },
      ],
    });
  };
  const thinking = { type: 'enabled', budget_tokens: 1024 };

  it.each<[string, Record<string, string>, boolean]>([
    ['is on by default', { 'x-gateway-provider': '@gemini' }, false],
    ['is off by the header', { 'x-gateway-provider': '@gemini', ...LAX }, true],
    ['is off by the config', { 'x-gateway-config': 'lax' }, true],
    [
      'is the header’s where both say',
      { 'x-gateway-config': 'lax', 'x-gateway-strict-open-ai-compliance': 'true' },
      false,
    ],
  ])('%s', async (_, headers, shown) => {
    thought();
    const { message } = await house.chat({ model: 'gemini-2.5-flash', thinking }, headers);
    expect(message['content']).toBe('Yes.');
    expect('content_blocks' in message).toBe(shown);
    expect((config()['thinkingConfig'] as Json)['includeThoughts'] ?? false).toBe(shown);
  });
});

describe('no max_tokens', () => {
  it('is Gemini’s own limit', async () => {
    expect((await house.chat({ model: FLASH, max_tokens: undefined })).status).toBe(200);
    expect(house.seen().json['generationConfig'] ?? {}).not.toHaveProperty('maxOutputTokens');
  });
});
