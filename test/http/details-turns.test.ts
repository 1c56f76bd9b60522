import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropicReply, geminiReply, json, sse, type SeenRequest } from '../support/upstream.ts';
import { CLAUDE, fn, geminiParts, GEMINI_3, LAX, startHouse, user, type House, type Json } from './details.testkit.ts';

/** Output of a model must come back to it unchanged: signatures, thoughts, pictures (docs/protocols/replies.md#replayed-extensions). */

let house: House;
beforeAll(async () => {
  house = await startHouse({
    gateway: {
      both: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@gemini', override_params: { model: 'gemini-3-flash-preview' } },
          { provider: '@claude', override_params: { model: 'claude-sonnet-4-5-20250929' } },
        ],
      },
    },
  });
});
afterAll(() => house.close());

const PNG = 'iVBORw0KGgo=';
const PNG_URL = `data:image/png;base64,${PNG}`;
const image = (thoughtSignature?: string) => ({
  inlineData: { mimeType: 'image/png', data: PNG },
  ...(thoughtSignature && { thoughtSignature }),
});
const contents = ({ json: body }: SeenRequest): Json[] => body['contents'] as Json[];
const tools = [fn('weather', { type: 'object', properties: { city: { type: 'string' } } })];

/** The message a client rebuilds from the chunks of a stream, its extensions as they came. */
function collect(deltas: readonly Json[]): Json {
  const list = (name: string) => deltas.flatMap((delta) => (delta[name] as Json[] | undefined) ?? []);
  const blocks = list('content_blocks');
  const parts = list('content_parts');
  const calls: Json[] = [];
  for (const { index, ...piece } of list('tool_calls')) {
    const known = calls[Number(index)];
    const given = piece['function'] as Json;
    if (!known) calls[Number(index)] = { ...piece, function: { arguments: '', ...given } };
    else {
      const whole = known['function'] as Json;
      whole['arguments'] = `${String(whole['arguments'])}${String(given['arguments'] ?? '')}`;
    }
  }
  return {
    role: 'assistant',
    content: deltas.map((delta) => String(delta['content'] ?? '')).join(''),
    ...(blocks.length > 0 && { content_blocks: blocks }),
    ...(parts.length > 0 && { content_parts: parts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** One turn, plain or streamed, of a model that says these parts. */
async function turn(parts: readonly object[], stream: boolean, body: object): Promise<Json> {
  if (!stream) house.answers(geminiParts(...parts));
  else {
    const chunks = parts.map((part, at) => ({
      ...geminiReply(''),
      candidates: [
        { content: { role: 'model', parts: [part] }, ...(at === parts.length - 1 && { finishReason: 'STOP' }) },
      ],
    }));
    house.plays((_, res) => sse(res, chunks));
  }
  const { message, deltas } = await house.chat({ ...body, stream }, LAX);
  return stream ? collect(deltas) : message;
}

describe.each([
  ['plain', false],
  ['streamed', true],
])('%s answers', (_, stream) => {
  it('keep the signatures of calls, texts and images over several turns', async () => {
    const said: (readonly object[])[] = [
      [
        { text: 'I think.', thought: true },
        { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'Y2FsbA==' },
      ],
      [{ text: 'Sunny.', thoughtSignature: 'dGV4dA==' }],
      [{ text: 'Here.' }, image('aW1hZ2U=')],
    ];
    const messages: Json[] = [user('Weather?')];
    for (const parts of said) {
      const message = await turn(parts, stream, { model: GEMINI_3, tools, messages });
      messages.push(message);
      const [call] = (message['tool_calls'] as Json[] | undefined) ?? [];
      messages.push(call ? { role: 'tool', tool_call_id: call['id'], content: 'sun' } : user('Go on.'));
    }
    house.answers(geminiReply('done'));
    await house.chat({ model: GEMINI_3, tools, messages }, LAX);
    expect(contents(house.seen()).filter(({ role }) => role === 'model')).toEqual([
      { role: 'model', parts: said[0]!.slice(1) },
      { role: 'model', parts: said[1] },
      { role: 'model', parts: said[2] },
    ]);
  });

  it('with a made image are edited in a later turn', async () => {
    const model = '@gemini/gemini-2.5-flash-image';
    const modalities = ['text', 'image'];
    const first = await turn([{ text: 'A cat.' }, image('c2ln')], stream, { model, modalities });
    expect(house.seen().json['generationConfig']).toMatchObject({ responseModalities: ['TEXT', 'IMAGE'] });
    expect(first).toMatchObject({ content: 'A cat.' });
    expect(first['content_parts']).toContainEqual({
      type: 'image_url',
      image_url: { url: PNG_URL },
      signature: 'c2ln',
    });
    const second = await turn([image()], stream, { model, modalities, messages: [user('Cat'), first, user('Red.')] });
    expect(contents(house.seen())).toEqual([
      { role: 'user', parts: [{ text: 'Cat' }] },
      { role: 'model', parts: [{ text: 'A cat.' }, image('c2ln')] },
      { role: 'user', parts: [{ text: 'Red.' }] },
    ]);
    expect(second['content_parts']).toEqual([{ type: 'image_url', image_url: { url: PNG_URL } }]);
  });

  it('keep an image and the text behind it in their order', async () => {
    const parts = [image(), { text: 'That is a cat.' }, image(), { text: 'Another.' }];
    const message = await turn(parts, stream, { model: GEMINI_3 });
    house.answers(geminiReply('ok'));
    await house.chat({ model: GEMINI_3, messages: [user('Cats'), message, user('Thanks')] }, LAX);
    expect(contents(house.seen())[1]).toEqual({ role: 'model', parts });
  });

  it('show a part only Gemini has as a block, and send it back', async () => {
    const file = { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } };
    const message = await turn([{ text: 'See:' }, file], stream, { model: GEMINI_3 });
    house.answers(geminiReply('ok'));
    await house.chat({ model: GEMINI_3, messages: [user('Cat'), message, user('Thanks')] }, LAX);
    expect(contents(house.seen())[1]).toEqual({ role: 'model', parts: [{ text: 'See:' }, file] });
  });

  it('of a model that thinks inline set its thoughts apart', async () => {
    const model = '@gemini/gemini-2.0-flash-thinking-exp-01-21';
    const message = await turn([{ text: 'Two and two.', thought: true }, { text: 'Four.' }], stream, { model });
    expect(message['content']).toBe('Two and two.\r\n\r\nFour.');
  });
});

it('thoughts of Gemini may be sent back where nothing may be lost', async () => {
  const thought = geminiParts({ text: 'Hm.', thought: true }, { text: 'Yes.', thoughtSignature: 'c2ln' });
  house.answers(thought, geminiReply('ok'));
  const { message } = await house.chat({ model: GEMINI_3 }, LAX);
  expect(message['content_blocks']).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, { type: 'text' }]);
  const messages = [user('Well?'), message, user('Sure?')];
  const again = await house.chat({ model: GEMINI_3, messages }, { ...LAX, 'x-gateway-strict-params': 'true' });
  expect(again.status).toBe(200);
});

it('a picture a strict client asks for is an answer without it', async () => {
  house.answers(geminiParts({ text: 'A cat.' }, image('c2ln')));
  const { message } = await house.chat({ model: '@gemini/gemini-2.5-flash-image', modalities: ['text', 'image'] });
  expect(message['content']).toBe('A cat.');
  expect(message).not.toHaveProperty('content_parts');
});

describe('a conversation that falls back to another provider and returns', () => {
  it('brings each its own signatures and neither the other’s', async () => {
    const body = { model: 'any', tools, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 } };
    const headers = { ...LAX, 'x-gateway-config': 'both' };
    const claudeSignature = 'EqQBCkYIChgCKkBclaude+signature=';
    const messages: Json[] = [user('Weather?')];
    const say = async () => {
      const { message, status } = await house.chat({ ...body, messages }, headers);
      expect(status).toBe(200);
      messages.push(message);
      const call = (message['tool_calls'] as Json[] | undefined)?.[0];
      messages.push(call ? { role: 'tool', tool_call_id: call['id'], content: 'sun' } : user('Again?'));
    };
    house.answers(
      geminiParts({
        functionCall: { name: 'weather', args: { city: 'Oslo' } },
        thoughtSignature: 'AQIDZ29vZ2xl',
      }),
    );
    await say();
    house.plays((request, res) =>
      request.url.includes('gemini')
        ? json(res, { error: { code: 503, message: 'Busy.', status: 'UNAVAILABLE' } }, 503)
        : json(res, {
            ...anthropicReply(''),
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: claudeSignature },
              { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
            ],
            stop_reason: 'tool_use',
          }),
    );
    await say();
    expect(JSON.stringify(house.seen().json)).not.toContain('AQIDZ29vZ2xl');
    await say();
    expect(JSON.stringify(house.seen().json)).toContain(claudeSignature);
    house.answers(geminiReply('Sunny.'));
    await say();
    const models = contents(house.seen()).filter(({ role }) => role === 'model');
    expect(models[0]).toEqual({
      role: 'model',
      parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'AQIDZ29vZ2xl' }],
    });
    expect(JSON.stringify(models)).not.toContain(claudeSignature);
    expect(models[1]).toMatchObject({ parts: [{ thoughtSignature: 'skip_thought_signature_validator' }] });
  });

  it('keeps a picture, its signature being the maker’s only', async () => {
    house.answers(geminiParts({ text: 'A cat.', thoughtSignature: 'AQID' }, image('AQIE')));
    const { message } = await house.chat({ model: GEMINI_3 }, LAX);
    house.answers(anthropicReply('Nice.'));
    const messages = [user('Cat'), message, user('And?')];
    const answer = await house.chat({ model: CLAUDE, messages }, LAX);
    expect(answer.status).toBe(200);
    expect(house.seen().text).not.toMatch(/AQID|AQIE/);
    house.answers(geminiReply('ok'));
    await house.chat({ model: GEMINI_3, messages: [...messages, answer.message, user('Back')] }, LAX);
    expect(contents(house.seen())[1]).toEqual({
      role: 'model',
      parts: [{ text: 'A cat.', thoughtSignature: 'AQID' }, image('AQIE')],
    });
  });
});
