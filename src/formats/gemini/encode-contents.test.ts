import { describe, expect, it } from 'vitest';
import type { Part, Tool, Turn } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import { deepFreeze, requestTarget } from '../contexts.testkit.ts';
import { encodeContents } from './encode-contents.ts';
import { LossReport } from '../losses/losses.ts';
import { traitsOf } from './models.ts';
import { SKIP_SIGNATURE } from './thought-signature.ts';

function encode(turns: readonly Turn[], overrides: Partial<RequestTarget> = {}, tools: readonly Tool[] = []) {
  const target = requestTarget({ model: 'gemini-2.5-flash', host: 'vertex', ...overrides });
  const losses = new LossReport('drop');
  const encoded = encodeContents(deepFreeze({ turns, tools }), traitsOf(target.model), target, losses);
  return { ...encoded, losses: losses.list() };
}

const text = (text: string): Part => ({ type: 'text', text });
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const call = (id: string, name: string, args = '{}', signature?: string): Part => ({
  type: 'tool_call',
  id,
  name,
  arguments: args,
  ...(signature && { signature }),
});
const tool = (callId: string, output: string, more: Partial<Extract<Part, { type: 'tool_result' }>> = {}): Turn => ({
  role: 'tool',
  parts: [{ type: 'tool_result', callId, content: [text(output)], ...more }],
});
const image: Part = { type: 'media', media: 'image', mime: 'image/png', source: { kind: 'data', data: 'AAAA' } };
const inline = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const gemini3 = { model: 'gemini-3-flash-preview' };

describe('turns on the wire', () => {
  it('collects every system turn and all of its parts, in order', () => {
    const { contents, systemInstruction, losses } = encode([
      { role: 'system', parts: [text('a'), text('b')] },
      user(text('hi')),
      { role: 'system', parts: [text('c')] },
    ]);
    expect(systemInstruction).toEqual({ parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] });
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'hi' }] }]);
    expect(losses).toMatchObject([{ param: 'messages[2]', action: 'downgraded' }]);
  });

  it('sends system text as user text when there are no other turns', () => {
    expect(encode([{ role: 'system', parts: [text('a')] }])).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a' }] }],
      losses: [],
    });
  });

  it('puts system text before the first user text of Gemma', () => {
    const { contents, systemInstruction } = encode([{ role: 'system', parts: [text('a')] }, user(text('hi'))], {
      model: 'gemma-3-27b-it',
    });
    expect(systemInstruction).toBeUndefined();
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'a' }, { text: 'hi' }] }]);
  });

  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  it.each([
    ['nest too deep', deep],
    ['are no JSON', '{"a":'],
  ])('arguments that %s are sent as an object with their text, which is reported', (_why, args) => {
    const { contents, losses } = encode([user(text('q')), assistant(call('1', 'f', args))]);
    expect(contents[1]).toMatchObject({ parts: [{ functionCall: { name: 'f', args: { value: args } } }] });
    expect(losses).toEqual([
      expect.objectContaining({ action: 'downgraded', param: 'messages[1].tool_calls[0].function.arguments' }),
    ]);
  });

  it('sends a result that nests too deep as text', () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const { contents } = encode([user(text('q')), assistant(call('1', 'f')), tool('1', deep)]);
    expect(contents.at(-1)?.['parts']).toMatchObject([{ functionResponse: { response: { output: deep } } }]);
  });

  it('merges adjacent turns of one role', () => {
    expect(encode([user(text('a')), user(text('b')), assistant(text('c')), assistant(text('d'))]).contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
    ]);
  });

  it('keeps text and calls of an assistant turn, and skips empty text', () => {
    expect(encode([assistant(text(''), text('I will'), call('1', 'f', '{"a":1}'))]).contents).toEqual([
      { role: 'model', parts: [{ text: 'I will' }, { functionCall: { name: 'f', args: { a: 1 } } }] },
    ]);
  });

  it('keeps empty text that carries a signature', () => {
    const { contents } = encode([assistant({ type: 'text', text: '', signature: 'c2ln' })]);
    expect(contents).toEqual([{ role: 'model', parts: [{ text: '', thoughtSignature: 'c2ln' }] }]);
  });

  it('keeps function responses apart from the user turn that follows', () => {
    const { contents } = encode([assistant(call('1', 'f')), tool('1', 'ok'), user(text('and?')), user(text('now?'))]);
    expect(contents.slice(1)).toEqual([
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'ok' } } }] },
      { role: 'user', parts: [{ text: 'and?' }, { text: 'now?' }] },
    ]);
  });

  it('puts scrambled results of parallel calls into call order, all in one content', () => {
    const { contents } = encode([
      assistant(call('a', 'f'), call('b', 'g'), call('c', 'f')),
      tool('c', '3'),
      tool('a', '1'),
      tool('b', '2'),
    ]);
    expect(contents).toHaveLength(2);
    const response = (name: string, output: string) => ({ functionResponse: { name, response: { output } } });
    expect(contents[1]).toEqual({ role: 'user', parts: [response('f', '1'), response('g', '2'), response('f', '3')] });
  });

  it('keeps the order of calls when an id is reused', () => {
    const { contents } = encode([
      assistant(call('x', 'f'), call('y', 'g')),
      tool('x', '1'),
      tool('y', '2'),
      assistant(call('x', 'f'), call('z', 'g')),
      tool('z', '4'),
      tool('x', '3'),
    ]);
    expect(contents[3]).toMatchObject({
      parts: [{ functionResponse: { response: { output: '3' } } }, { functionResponse: { response: { output: '4' } } }],
    });
  });

  it('answers the right call when a client uses an id twice', () => {
    const turns = [assistant(call('x', 'f')), tool('x', '1'), assistant(call('x', 'g')), tool('x', '2')];
    expect(encode(turns).contents).toMatchObject([
      {},
      { parts: [{ functionResponse: { name: 'f' } }] },
      {},
      { parts: [{ functionResponse: { name: 'g' } }] },
    ]);
  });

  it('takes the name of a result from its call, then from the result', () => {
    const { contents } = encode([
      assistant(call('1', 'f')),
      tool('1', 'a', { name: 'other' }),
      tool('2', 'b', { name: 'g' }),
    ]);
    expect(contents[1]).toMatchObject({
      parts: [{ functionResponse: { name: 'f' } }, { functionResponse: { name: 'g' } }],
    });
  });

  it('refuses a result that names no tool at all', () => {
    expect(() => encode([user(text('x')), tool('9', 'a')])).toThrow(
      expect.objectContaining({ name: 'RequestFault', code: 'missing_required_parameter', param: 'messages[1]' }),
    );
  });

  it.each([
    ['', {}],
    ['  ', {}],
    ['{"a":{"b":[1]}}', { a: { b: [1] } }],
    ['[1,2]', { value: [1, 2] }],
    ['"x"', { value: 'x' }],
    ['null', { value: null }],
  ])('arguments %j are sent as an object', (args, wire) => {
    expect(encode([assistant(call('1', 'f', args))]).contents).toEqual([
      { role: 'model', parts: [{ functionCall: { name: 'f', args: wire } }] },
    ]);
  });

  it('wraps the text of a free-text tool', () => {
    const custom: Part = { type: 'tool_call', id: '1', name: 'sh', arguments: 'ls {', custom: true };
    expect(encode([assistant(custom)]).contents).toMatchObject([
      { parts: [{ functionCall: { args: { input: 'ls {' } } }] },
    ]);
  });

  it.each([
    ['{"a":1}', {}, { a: 1 }],
    ['[1]', {}, { output: '[1]' }],
    ['plain', {}, { output: 'plain' }],
    ['', {}, { output: '' }],
    ['{"a":1', {}, { output: '{"a":1' }],
    ['{"id":12345678901234567890}', {}, { output: '{"id":12345678901234567890}' }],
    ['{"id":"12345678901234567890"}', {}, { id: '12345678901234567890' }],
    ['{"a":1}', { isError: true }, { error: '{"a":1}' }],
  ])('the result %j is sent whole', (output, more, response) => {
    expect(encode([assistant(call('1', 'f')), tool('1', output, more)]).contents[1]).toEqual({
      role: 'user',
      parts: [{ functionResponse: { name: 'f', response } }],
    });
  });

  it('joins the texts of a result', () => {
    const result = tool('1', '', { content: [text('a'), text('b')] });
    expect(encode([assistant(call('1', 'f')), result]).contents[1]).toMatchObject({
      parts: [{ functionResponse: { response: { output: 'a\nb' } } }],
    });
  });

  it('media of a result go inside it on Gemini 3, and after it before that', () => {
    const turns = [assistant(call('1', 'f')), tool('1', '', { content: [text('see'), image] }), user(text('so?'))];
    expect(encode(turns, gemini3).contents[1]).toEqual({
      role: 'user',
      parts: [{ functionResponse: { name: 'f', response: { output: 'see' }, parts: [inline] } }],
    });
    expect(encode(turns).contents.slice(1)).toEqual([
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'see' } } }] },
      { role: 'user', parts: [inline, { text: 'so?' }] },
    ]);
  });

  it('call ids are kept from Vertex and sent to the Developer API', () => {
    const turns = [assistant(call('id1', 'f')), tool('id1', 'ok')];
    expect(JSON.stringify(encode(turns).contents)).not.toContain('id1');
    expect(encode(turns, { host: 'direct' }).contents).toMatchObject([
      { parts: [{ functionCall: { id: 'id1' } }] },
      { parts: [{ functionResponse: { id: 'id1' } }] },
    ]);
  });
});

describe('thought signatures', () => {
  const signatures = (turns: readonly Turn[], target: Partial<RequestTarget>) =>
    encode(turns, target).contents.flatMap(({ parts }) =>
      (Array.isArray(parts) ? parts : []).map((part) => part.thoughtSignature),
    );

  it('go back on their own part', () => {
    const turn = assistant({ type: 'text', text: 'a', signature: 's1' }, call('1', 'f', '{}', 's2'), {
      ...image,
      signature: 's3',
    });
    expect(signatures([turn], gemini3)).toEqual(['s1', 's2', 's3']);
  });

  it('Gemini 3 reads the escape value on the first unsigned call of a turn only', () => {
    const turns = [
      assistant(text('x'), call('1', 'f'), call('2', 'g')),
      tool('1', 'a'),
      tool('2', 'b'),
      assistant(call('3', 'f')),
    ];
    expect(signatures(turns, gemini3)).toEqual([
      undefined,
      SKIP_SIGNATURE,
      undefined,
      undefined,
      undefined,
      SKIP_SIGNATURE,
    ]);
  });

  it('parallel calls behind a signed one need none', () => {
    expect(signatures([assistant(call('1', 'f', '{}', 's'), call('2', 'g'))], gemini3)).toEqual(['s', undefined]);
  });

  it('models before Gemini 3 get no escape value', () => {
    expect(signatures([assistant(call('1', 'f'))], {})).toEqual([undefined]);
  });

  it('are read from the id of the call, and removed from it', () => {
    const id = 'call_1__thought__YS_-';
    const { contents } = encode([assistant(call(id, 'f')), tool(id, 'ok')], { ...gemini3, host: 'direct' });
    expect(contents).toMatchObject([
      { parts: [{ functionCall: { id: 'call_1' }, thoughtSignature: 'YS/+' }] },
      { parts: [{ functionResponse: { id: 'call_1', name: 'f' } }] },
    ]);
  });

  it('a result finds its call whether or not the client kept the suffix', () => {
    const turns = [assistant(call('call_1__thought__YQ', 'f')), tool('call_1', 'ok')];
    expect(encode(turns).contents[1]).toMatchObject({ parts: [{ functionResponse: { name: 'f' } }] });
  });

  it('of thoughts are sent on a part of their own without the thoughts, which loses nothing', () => {
    const thought: Part = { type: 'thinking', text: 'hm', signature: 's', maker: 'gemini' };
    const { contents, losses } = encode([assistant(thought, text('a'))]);
    expect(contents).toEqual([
      { role: 'model', parts: [{ thought: true, text: '', thoughtSignature: 's' }, { text: 'a' }] },
    ]);
    expect(losses).toEqual([]);
  });
});

it('a thought without a maker is dropped, because it is Claude’s', () => {
  const { contents, losses } = encode([assistant({ type: 'thinking', text: '', signature: 's' }, text('a'))]);
  expect(contents).toEqual([{ role: 'model', parts: [{ text: 'a' }] }]);
  expect(losses).toMatchObject([{ param: 'messages[0].content[0]', action: 'dropped' }]);
});

describe('media', () => {
  const encodePart = (part: Part) => encode([user(text('x'), part)]).contents[0]?.['parts'];
  const at = (url: string, more: object = {}): Part => ({
    type: 'media',
    media: 'image',
    source: { kind: 'url', url },
    ...more,
  });

  it('alone in a user turn get a blank text beside them', () => {
    expect(encode([user(image)]).contents).toEqual([{ role: 'user', parts: [inline, { text: ' ' }] }]);
  });

  it.each<[string, Part, object]>([
    ['data', image, inline],
    ['gs:// by extension', at('gs://b/a.JPG'), { fileData: { mimeType: 'image/jpeg', fileUri: 'gs://b/a.JPG' } }],
    [
      'https with a query',
      at('https://h/a.png?sig=x.y'),
      { fileData: { mimeType: 'image/png', fileUri: 'https://h/a.png?sig=x.y' } },
    ],
    [
      'an explicit type',
      at('https://h/a', { mime: 'image/webp' }),
      { fileData: { mimeType: 'image/webp', fileUri: 'https://h/a' } },
    ],
    [
      'a film on YouTube',
      at('https://youtu.be/x', { media: 'video' }),
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' } },
    ],
    [
      'sound in webm',
      at('https://h/a.webm', { media: 'audio' }),
      { fileData: { mimeType: 'audio/webm', fileUri: 'https://h/a.webm' } },
    ],
    [
      'a file by URI',
      { type: 'media', media: 'document', mime: 'application/pdf', source: { kind: 'file', id: 'gs://b/a' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/a' } },
    ],
    [
      'a text document',
      { type: 'media', media: 'document', source: { kind: 'text', text: 'é' } },
      { inlineData: { mimeType: 'text/plain', data: 'w6k=' } },
    ],
  ])('%s', (_, part, wire) => {
    expect(encodePart(part)).toEqual([{ text: 'x' }, wire]);
  });

  it.each<[string, Part]>([
    ['a URL that tells no type', at('https://h/a')],
    ['another scheme', at('ftp://h/a.png')],
    ['something that is no URL', at('abc')],
    [
      'a file id of another vendor',
      { type: 'media', media: 'document', mime: 'application/pdf', source: { kind: 'file', id: 'file-1' } },
    ],
    ['data of no known type', { type: 'media', media: 'document', source: { kind: 'data', data: 'AAAA' } }],
  ])('%s is refused with its place', (_, part) => {
    expect(() => encodePart(part)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'messages[0].content[1]' }),
    );
  });

  it('detail is a resolution on Gemini 3 and a loss before', () => {
    const detailed: Part = { ...image, detail: 'low' };
    expect(encode([user(text('x'), detailed)], gemini3).contents[0]).toMatchObject({
      parts: [{}, { mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } }],
    });
    expect(encode([user(text('x'), detailed)]).losses).toMatchObject([
      { param: 'messages[0].content[1].image_url.detail' },
    ]);
  });
});

it('parts of other APIs, names and cache markers are reported losses', () => {
  const { contents, losses } = encode([
    { role: 'user', name: 'ann', parts: [{ type: 'text', text: 'a', cache: { type: 'ephemeral' } }] },
    assistant(
      { type: 'redacted_thinking', data: 'x' },
      { type: 'opaque', format: 'anthropic-messages', value: {} },
      { type: 'refusal', text: 'no' },
    ),
  ]);
  expect(contents).toEqual([
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ text: 'no' }] },
  ]);
  expect(losses.map(({ param, action }) => [param, action])).toEqual([
    ['messages[0].name', 'dropped'],
    ['messages[0].content[0].cache_control', 'dropped'],
    ['messages[1].content[0]', 'dropped'],
    ['messages[1].content[1]', 'dropped'],
    ['messages[1].content[2]', 'downgraded'],
  ]);
});

it('losses in the parts of a result name the message of the result', () => {
  const { losses } = encode([
    assistant(call('a', 'f'), call('b', 'f')),
    {
      role: 'tool',
      parts: [
        { type: 'tool_result', callId: 'a', content: [text('1')] },
        {
          type: 'tool_result',
          callId: 'b',
          content: [
            { ...image, detail: 'low', name: 'a.png' },
            { type: 'text', text: '2', cache: { type: 'ephemeral' } },
            { type: 'redacted_thinking', data: 'x' },
          ],
        },
      ],
    },
    { role: 'user', name: 'ann', parts: [text('so?')] },
  ]);
  expect(losses.map(({ param }) => param)).toEqual([
    'messages[3].name',
    'messages[2].content[0].file.filename',
    'messages[2].content[0].image_url.detail',
    'messages[2].content[1].cache_control',
    'messages[2].content[2]',
  ]);
});

it('arguments with numbers a double cannot hold are sent, and reported', () => {
  const { losses } = encode([assistant(call('1', 'f', '{"id":12345678901234567891}'), call('2', 'f', '{"id":"1"}'))]);
  expect(losses).toMatchObject([{ param: 'messages[0].tool_calls[0].function.arguments', action: 'clamped' }]);
});

it('grounding of an earlier answer is not sent as a part', () => {
  const turn = assistant(text('a'), {
    type: 'opaque',
    format: 'gemini',
    value: { groundingMetadata: { webSearchQueries: ['q'] } },
  });
  expect(encode([turn]).contents).toEqual([{ role: 'model', parts: [{ text: 'a' }] }]);
});

it.each<[string, Record<string, unknown>, object[], string[]]>([
  [
    'goes back as it came',
    { type: 'gemini_part', part: { fileData: { mimeType: 'image/png', fileUri: 'gs://b/a' }, thoughtSignature: 's' } },
    [{ fileData: { mimeType: 'image/png', fileUri: 'gs://b/a' }, thoughtSignature: 's' }],
    [],
  ],
  [
    'with an invalid call is reported as lost',
    { type: 'gemini_part', part: { functionCall: { args: {} } } },
    [],
    ['dropped'],
  ],
  ['that is not an object is reported as lost', { type: 'gemini_part', part: 'x' }, [], ['dropped']],
])('a part only Gemini has %s', (_, value, parts, lost) => {
  const { contents, losses } = encode([assistant(text('a'), { type: 'opaque', format: 'gemini', value })]);
  expect(contents).toEqual([{ role: 'model', parts: [{ text: 'a' }, ...parts] }]);
  expect(losses.map(({ action }) => action)).toEqual(lost);
});

it('server-side tools of Google are sent to the Developer API only', () => {
  const value = { toolCall: { toolType: 'GOOGLE_SEARCH', id: 't' }, thoughtSignature: 's' };
  const turn = assistant(text('a'), { type: 'opaque', format: 'gemini', value });
  expect(encode([turn], { host: 'direct' })).toMatchObject({
    contents: [{ parts: [{ text: 'a' }, value] }],
    losses: [],
  });
  expect(encode([turn])).toMatchObject({
    contents: [{ parts: [{ text: 'a' }] }],
    losses: [{ action: 'dropped', param: 'messages[0].content[1]' }],
  });
});

describe('computer use', () => {
  const tools: readonly Tool[] = [
    { type: 'function', name: 'computer_use', parameters: { environment: 'ENVIRONMENT_BROWSER' } },
    { type: 'function', name: 'remember' },
  ];
  const COMPUTER = { model: 'gemini-2.5-computer-use-preview-10-2025' };
  const encodeActions = (turns: readonly Turn[], overrides: Partial<RequestTarget> = COMPUTER) =>
    encode([user(text('go')), ...turns], overrides, tools);
  const response = (name: string, body: object, more: object = {}) => ({
    functionResponse: { name, response: body, ...more },
  });

  it('a user message is the result of the open actions, with its image on the last one', () => {
    const { contents, losses } = encodeActions([
      assistant(call('a', 'navigate'), call('b', 'click_at'), call('c', 'wait_5_seconds')),
      tool('a', 'there'),
      user(text('clicked'), image),
    ]);
    expect(contents.slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          response('navigate', { output: 'there' }),
          response('click_at', { output: 'clicked' }),
          response('wait_5_seconds', { output: 'clicked' }, { parts: [inline] }),
        ],
      },
    ]);
    expect(losses).toEqual([]);
  });

  it('only the first message after them is their result', () => {
    const { contents } = encodeActions([assistant(call('a', 'navigate')), user(text('there')), user(text('now buy'))]);
    expect(contents.slice(2)).toEqual([
      { role: 'user', parts: [response('navigate', { output: 'there' })] },
      { role: 'user', parts: [{ text: 'now buy' }] },
    ]);
  });

  it.each<[string, readonly Turn[]]>([
    ['answered actions', [assistant(call('a', 'navigate')), tool('a', 'there'), user(text('now buy'))]],
    [
      'a result under the id without its signature',
      [assistant(call('a__thought__c2ln', 'navigate')), tool('a', 'there'), user(text('now buy'))],
    ],
  ])('%s keep the message a user message', (_, turns) => {
    expect(encodeActions(turns).contents.at(-1)).toEqual({ role: 'user', parts: [{ text: 'now buy' }] });
  });

  it('calls of declared functions, and all calls without the tool, wait for results of their own', () => {
    const declared = [assistant(call('a', 'remember')), user(text('well?'))];
    expect(encodeActions(declared).contents.at(-1)).toEqual({ role: 'user', parts: [{ text: 'well?' }] });
    const undeclared = [assistant(call('a', 'navigate')), user(text('well?'))];
    expect(encode(undeclared, COMPUTER).contents.at(-1)).toEqual({ role: 'user', parts: [{ text: 'well?' }] });
  });

  it('results in a user turn precede its other parts', () => {
    const { contents } = encodeActions([
      assistant(call('a', 'navigate'), call('b', 'click_at')),
      user({ type: 'tool_result', callId: 'a', content: [text('there')] }, text('clicked')),
    ]);
    expect(contents.slice(2)).toEqual([
      { role: 'user', parts: [response('navigate', { output: 'there' }), response('click_at', { output: 'clicked' })] },
    ]);
  });

  it('an image follows on models whose responses hold none, and parts that cannot be a result are a loss', () => {
    const turns = [assistant(call('a', 'navigate')), user(image, { type: 'opaque', format: 'openai-chat', value: {} })];
    const { contents, losses } = encodeActions(turns, { model: 'gemini-2.5-flash' });
    expect(contents.slice(2)).toEqual([
      { role: 'user', parts: [response('navigate', { output: '' })] },
      { role: 'user', parts: [inline, { text: ' ' }] },
    ]);
    expect(losses).toMatchObject([{ action: 'dropped', param: 'messages[2].content[1]' }]);
  });
});
