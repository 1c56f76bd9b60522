import { beforeAll, describe, expect, it, afterAll } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { connect } from './websockets/kit.testkit.ts';

/** Ids of objects in the vendor's account, which all keys of a catalog entry share, at every door. */

const FREE = 'free-key-012345678';
const LISTED = 'listed-key-0123456';
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
  const at = { base_url: `${upstream.url}/v1`, allow_insecure: true };
  const root = { ...at, base_url: upstream.url, api_key: '${env:NONE:-upstream-secret}' };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'own', provider: 'openai', ...root, base_url: at.base_url },
        { slug: 'native', provider: 'openai', ...root, base_url: at.base_url, api: 'responses', unknown_ids: 'pass' },
        { slug: 'claude', provider: 'anthropic', ...root },
        { slug: 'studio', provider: 'google-ai-studio', ...root },
        // Without credentials of its own it gets the caller's token.
        {
          slug: 'vertex',
          provider: 'vertex-ai',
          project_id: 'test-project',
          region: 'us-central1',
          base_url: upstream.url,
          allow_insecure: true,
        },
        { slug: 'strict', provider: 'openai', ...root, base_url: at.base_url, fields: { vendor_objects: 'refuse' } },
      ],
    },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}`, fields: { vendor_objects: 'refuse' }, inline_configs: true },
        { id: 'free', key: `\${env:NONE:-${FREE}}` },
        { id: 'listed', key: `\${env:NONE:-${LISTED}}`, fields: { vendor_objects: ['containers', 'responses'] } },
      ],
    },
  });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

type Headers = Readonly<Record<string, string>>;

async function post(path: string, body: object | string, key = KEY, headers: Headers = {}) {
  const before = upstream.seen.length;
  const isForm = body instanceof FormData;
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...(!isForm && { 'content-type': 'application/json' }), 'x-gateway-api-key': key, ...headers },
    body: isForm || typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, text, isSent: upstream.seen.length > before };
}

const says = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
const asks = (part: object) => ({ contents: [{ role: 'user', parts: [part] }] });
const form = (fields: Readonly<Record<string, string>>): FormData => {
  const data = new FormData();
  data.set('image', new Blob(['x'], { type: 'image/png' }), 'a.png');
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
};

/** In the error of each API: its code, or the words and the field. */
const OPENAI = /"param":"PARAM","code":"field_not_allowed"|"code":"field_not_allowed".*"param":"PARAM"/;
const ANTHROPIC = /^\{"type":"error","error":\{.*`PARAM`/;
const GOOGLE = /"status":"INVALID_ARGUMENT"/;

const DOORS: readonly [string, string, object, string, RegExp][] = [
  [
    'chat completions',
    '/v1/chat/completions',
    { model: '@own/m', ...says({ type: 'file', file: { file_id: 'file-1' } }) },
    'messages[0].content[0].file.file_id',
    OPENAI,
  ],
  [
    'chat completions, of an audio answer',
    '/v1/chat/completions',
    {
      model: '@own/m',
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', audio: { id: 'audio_1' } },
      ],
    },
    'messages[1].audio.id',
    OPENAI,
  ],
  [
    'Responses, of a file',
    '/v1/responses',
    { model: '@native/m', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    'input[0].content[0].file_id',
    OPENAI,
  ],
  [
    'Responses, of a vector store',
    '/v1/responses',
    { model: '@native/m', input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    'tools[0].vector_store_ids[0]',
    OPENAI,
  ],
  [
    'Responses, of a container',
    '/v1/responses',
    { model: '@native/m', input: 'x', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
    'tools[0].container',
    OPENAI,
  ],
  [
    'Responses, of a prompt',
    '/v1/responses',
    { model: '@native/m', input: 'x', prompt: { id: 'pmpt_1' } },
    'prompt.id',
    OPENAI,
  ],
  [
    'Responses, of a conversation',
    '/v1/responses',
    { model: '@native/m', input: 'x', conversation: 'conv_1' },
    'conversation',
    OPENAI,
  ],
  [
    'Responses, of an item',
    '/v1/responses',
    { model: '@native/m', input: [{ type: 'item_reference', id: 'msg_1' }] },
    'input[0].id',
    OPENAI,
  ],
  [
    'Responses, of an image',
    '/v1/responses',
    {
      model: '@native/m',
      input: [
        { role: 'user', content: 'x' },
        { type: 'image_generation_call', id: 'ig_1' },
      ],
    },
    'input[1].id',
    OPENAI,
  ],
  [
    'the count of Responses',
    '/v1/responses/input_tokens',
    { model: '@native/m', input: 'x', conversation: 'conv_1' },
    'conversation',
    OPENAI,
  ],
  [
    'Messages, of a file',
    '/v1/messages',
    { model: '@claude/m', max_tokens: 9, ...says({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) },
    'messages[0].content[0].source.file_id',
    ANTHROPIC,
  ],
  [
    'Messages, of a container',
    '/v1/messages',
    { model: '@claude/m', max_tokens: 9, container: 'container_1', messages: [{ role: 'user', content: 'x' }] },
    'container',
    ANTHROPIC,
  ],
  [
    'the count of Messages',
    '/v1/messages/count_tokens',
    { model: '@claude/m', ...says({ type: 'image', source: { type: 'file', file_id: 'file_1' } }) },
    'messages[0].content[0].source.file_id',
    ANTHROPIC,
  ],
  [
    'Gemini, of a cache',
    '/v1beta/models/@studio/gemini-2.5-flash:generateContent',
    { cachedContent: 'cachedContents/1', ...asks({ text: 'x' }) },
    'cachedContent',
    GOOGLE,
  ],
  [
    'Gemini, of a file',
    '/v1beta/models/@studio/gemini-2.5-flash:generateContent',
    asks({ fileData: { mimeType: 'text/plain', fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } }),
    'contents[0].parts[0].fileData.fileUri',
    GOOGLE,
  ],
  ['completions', '/v1/completions', { model: '@own/m', prompt: 'x', file_ids: ['file-1'] }, 'file_ids[0]', OPENAI],
  ['speech', '/v1/audio/speech', { model: '@own/m', input: 'x', voice: { id: 'voice_1' } }, 'voice.id', OPENAI],
  ['edits of images', '/v1/images/edits', form({ model: '@own/m', prompt: 'x', file_id: 'file-1' }), 'file_id', OPENAI],
];

describe('an object in the account of the vendor', () => {
  it.each(DOORS)('is refused at the door of %s, and reaches it by default', async (_, path, body, param, shape) => {
    const refused = await post(path, body);
    expect(refused).toMatchObject({ status: 400, isSent: false });
    const quoted = param.replaceAll(/[[\].]/g, String.raw`\$&`);
    expect(refused.text).toMatch(new RegExp(shape.source.replaceAll('PARAM', quoted)));
    expect(refused.text).toContain(`\`${param}\``);
    expect(await post(path, body, FREE)).toMatchObject({ isSent: true });
  });

  it('is refused in a turn of a WebSocket', async () => {
    const client = await connect(gateway);
    const before = upstream.seen.length;
    const frames = await client.turn({ model: '@native/m', input: 'x', prompt: { id: 'pmpt_1' } });
    expect(frames.at(-1)).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'field_not_allowed', param: 'prompt.id' },
    });
    expect(upstream.seen).toHaveLength(before);
  });

  it('is refused where its item has an escaped type, or stands in `extra_body`', async () => {
    const image = '{"model":"@native/m","input":[{"type":"image\\u005fgeneration_call","id":"ig_1"}]}';
    const item = { type: 'item_reference', id: 'msg_1' };
    const lifted = { model: '@native/m', input: 'x', extra_body: { input: [item] } };
    for (const body of [image, lifted])
      expect(await post('/v1/responses', body)).toMatchObject({ status: 400, isSent: false });
  });

  it('is refused where its item has two types', async () => {
    const twice = '{"type":"item_reference","id":"msg_1","type":"message","role":"user","content":"x"}';
    const refused = await post('/v1/responses', `{"model":"@native/m","input":[${twice}]}`);
    expect(refused).toMatchObject({ status: 400, isSent: false });
    expect(refused.text).toContain('duplicate_parameter');
  });

  it('is refused by the rules of the catalog entry, whatever the key may send', async () => {
    const body = { model: '@strict/m', ...says({ type: 'file', file: { file_id: 'file-1' } }) };
    const refused = await post('/v1/chat/completions', body, FREE);
    expect(refused).toMatchObject({ status: 400, isSent: false });
    expect(refused.text).toContain('@strict does not allow');
  });

  it('is refused in a config that the caller writes', async () => {
    const config = JSON.stringify({ provider: '@native', override_params: { prompt: { id: 'pmpt_1' } } });
    const refused = await post('/v1/responses', { model: 'm', input: 'x' }, KEY, { 'x-gateway-config': config });
    expect(refused).toMatchObject({ status: 400, isSent: false });
  });

  it('of a kind that the key lists passes', async () => {
    const tools = [{ type: 'code_interpreter', container: 'cntr_1' }];
    const named = { model: '@native/m', input: 'x', tools, previous_response_id: 'resp_1' };
    expect(await post('/v1/responses', named, LISTED)).toMatchObject({ isSent: true });
    expect(await post('/v1/responses', { ...named, prompt: { id: 'pmpt_1' } }, LISTED)).toMatchObject({
      status: 400,
      isSent: false,
    });
  });

  it('passes in requests with the caller’s own token', async () => {
    const own = { authorization: 'Bearer callers-own-token' };
    const cached = { cachedContent: 'projects/p/locations/l/cachedContents/1', ...asks({ text: 'x' }) };
    const path = '/v1beta/models/@vertex/gemini-2.5-flash:generateContent';
    expect(await post(path, cached, KEY, own)).toMatchObject({ isSent: true });
  });

  it('with the id of a response that the gateway does not keep gets the code after which clients send all of it', async () => {
    const refused = await post('/v1/responses', { model: '@native/m', input: 'x', previous_response_id: 'resp_1' });
    expect(refused).toMatchObject({ status: 400, isSent: false });
    expect(refused.text).toContain('"previous_response_not_found"');
  });
});
