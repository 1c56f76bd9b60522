import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, Part, Tool } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { deepFreeze } from '../contexts.testkit.ts';
import { decodeRequest } from './decode-request.ts';
import { runs } from '../../../test/support/effort.ts';

const body = (fields: JsonObject): JsonObject => ({ model: 'm', messages: [], ...fields });
const turnsOf = (...messages: JsonObject[]) => decodeRequest(body({ messages })).turns;
const partsOf = (message: JsonObject): readonly Part[] => turnsOf(message)[0]!.parts;
const userPart = (part: JsonObject): Part => partsOf({ role: 'user', content: [part] })[0]!;

describe('scalar fields', () => {
  it.each([
    ['max_completion_tokens wins over max_tokens', { max_completion_tokens: 5, max_tokens: 9 }, { maxTokens: 5 }],
    ['max_tokens alone counts', { max_tokens: 9, max_completion_tokens: null }, { maxTokens: 9 }],
    ['a stop text is a list of one', { stop: 'END' }, { sampling: { stop: ['END'] } }],
    ['stop texts stay a list', { stop: ['a', 'b'] }, { sampling: { stop: ['a', 'b'] } }],
    [
      'sampling is carried',
      { temperature: 0, top_p: 1, top_k: 3, seed: 0, n: 2, logprobs: true, top_logprobs: 4 },
      { sampling: { temperature: 0, topP: 1, topK: 3, seed: 0, n: 2, logprobs: true, topLogprobs: 4 } },
    ],
    [
      'thinking is carried beside effort',
      { reasoning_effort: 'low', thinking: { type: 'enabled', budget_tokens: 0 } },
      { reasoning: { effort: 'low', thinking: { type: 'enabled', budgetTokens: 0 } } },
    ],
    ['null effort is no effort', { reasoning_effort: null }, {}],
    ['stream options are the gateway’s', { stream: true, stream_options: { include_usage: true } }, { stream: true }],
    [
      'unknown fields are kept, nulls are not',
      { logit_bias: { '1': 2 }, store: null, moderation: { model: 'x' } },
      { extras: { logit_bias: { '1': 2 }, moderation: { model: 'x' } }, extrasFormat: 'openai-chat' },
    ],
    [
      'extensions have their places',
      { labels: { a: 'b' }, safety_settings: [1], image_config: { x: 1 } },
      { labels: { a: 'b' }, safetySettings: [1], imageConfig: { x: 1 } },
    ],
    ['an empty list of tools is none', { tools: [] }, {}],
  ])('%s', (_title, fields, expected) => {
    expect(decodeRequest(body(fields))).toEqual({ model: 'm', turns: [], sampling: {}, stream: false, ...expected });
  });

  it('keeps a field named __proto__ a field', () => {
    const decoded = decodeRequest(JSON.parse('{"model":"m","messages":[],"__proto__":{"polluted":1}}') as JsonObject);
    expect(Object.keys(decoded.extras ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(decoded.extras)).toBe(Object.prototype);
  });

  it.each([
    ['text', { type: 'text' }, { type: 'text' }],
    ['json_object', { type: 'json_object' }, { type: 'json_object' }],
    [
      'a wrapped schema',
      { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'object' } } },
      { type: 'json_schema', name: 'n', strict: true, schema: { type: 'object' } },
    ],
    [
      'a bare schema',
      { type: 'json_schema', json_schema: { type: 'object', properties: {} } },
      { type: 'json_schema', schema: { type: 'object', properties: {} } },
    ],
    ['a name without schema', { type: 'json_schema', json_schema: { name: 'n' } }, { type: 'json_schema', name: 'n' }],
  ])('reads %s as response_format', (_title, format, expected) => {
    expect(decodeRequest(body({ response_format: format })).responseFormat).toEqual(expected);
  });
});

describe('messages', () => {
  it('reads developer as system, in place', () => {
    expect(turnsOf({ role: 'user', content: 'a' }, { role: 'developer', content: 'b', name: 'ops' })).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'a' }] },
      { role: 'system', parts: [{ type: 'text', text: 'b' }], name: 'ops' },
    ]);
  });

  it('joins the results of one turn, and keeps argument text unchanged', () => {
    const args = '{"a": 1,  "b":';
    expect(
      turnsOf(
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: args } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'free' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
        { role: 'tool', tool_call_id: 'c1', content: '' },
        { role: 'user', content: 'so?' },
      ),
    ).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_call', id: 'c1', name: 'f', arguments: args },
          { type: 'tool_call', id: 'c2', name: 'g', arguments: 'free', custom: true },
        ],
      },
      {
        role: 'tool',
        parts: [
          { type: 'tool_result', callId: 'c2', content: [{ type: 'text', text: 'two' }] },
          { type: 'tool_result', callId: 'c1', content: [] },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'so?' }] },
    ]);
  });

  it('converts the deprecated function messages, with answers paired by name', () => {
    const turns = turnsOf(
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: '1' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"x":1}' } },
      { role: 'function', name: 'f', content: '2' },
    );
    const ids = turns.map(({ parts: [part] }) =>
      part?.type === 'tool_call' ? part.id : part?.type === 'tool_result' ? part.callId : '',
    );
    expect(ids).toEqual(['call_function_0', 'call_function_0', 'call_function_1', 'call_function_1']);
  });

  it.each([
    [
      'function.thought_signature',
      {
        function: { name: 'f', arguments: '', thought_signature: 'S' },
        extra_content: { google: { thought_signature: 'T' } },
      },
    ],
    [
      'extra_content.google',
      { function: { name: 'f', arguments: '' }, extra_content: { google: { thought_signature: 'S' } } },
    ],
    ['the call itself', { function: { name: 'f', arguments: '' }, thought_signature: 'S' }],
  ])('finds a thought signature on %s', (_place, call) => {
    expect(partsOf({ role: 'assistant', tool_calls: [{ id: 'c', ...call }] })).toEqual([
      { type: 'tool_call', id: 'c', name: 'f', arguments: '', signature: 'S' },
    ]);
  });

  it('reads content_blocks in place of content', () => {
    const content_blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'S' },
      { type: 'redacted_thinking', data: 'R' },
      { type: 'text', text: 'hi' },
      { type: 'server_tool_use', id: 's' },
    ];
    expect(partsOf({ role: 'assistant', content: 'hi', content_blocks })).toEqual([
      { type: 'thinking', text: 'hm', signature: 'S' },
      { type: 'redacted_thinking', data: 'R' },
      { type: 'text', text: 'hi' },
      { type: 'opaque', format: 'anthropic-messages', value: { type: 'server_tool_use', id: 's' } },
    ]);
  });

  it('takes the text from content when the blocks have none', () => {
    expect(
      partsOf({ role: 'assistant', content: 'hi', content_blocks: [{ type: 'thinking', thinking: 'hm' }] }),
    ).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'hi' },
    ]);
  });

  it('places media of content_parts between the matching content_blocks', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' }, signature: 'I' };
    const parts = partsOf({
      role: 'assistant',
      content: 'ab',
      content_blocks: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'a', signature: 'A' },
        { type: 'text', text: 'b' },
      ],
      content_parts: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }],
    });
    expect(parts.map((part) => (part.type === 'text' || part.type === 'thinking' ? part.text : part.type))).toEqual([
      'hm',
      'a',
      'media',
      'b',
    ]);
    expect(parts[2]).toEqual({
      type: 'media',
      media: 'image',
      mime: 'image/png',
      source: { kind: 'data', data: 'AA==' },
      signature: 'I',
    });
  });

  it('keeps a call that is only in content_blocks, once', () => {
    const content_blocks = [
      { type: 'text', text: 'hi' },
      { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'c2', name: 'g', input: {} },
    ];
    const tool_calls = [{ id: 'c2', function: { name: 'g', arguments: '{}' } }];
    expect(
      partsOf({ role: 'assistant', content_blocks, tool_calls }).filter((part) => part.type === 'tool_call'),
    ).toEqual([
      { type: 'tool_call', id: 'c2', name: 'g', arguments: '{}' },
      { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}' },
    ]);
  });

  it.each([
    [
      'when there is nothing better',
      {},
      [
        { type: 'thinking', text: 'why', unnamed: true },
        { type: 'text', text: 'hi' },
      ],
    ],
    [
      'not beside signed thinking',
      {
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'S' },
          { type: 'text', text: 'hi' },
        ],
      },
      [
        { type: 'thinking', text: 'hm', signature: 'S' },
        { type: 'text', text: 'hi' },
      ],
    ],
  ])('takes reasoning_content %s', (_when, fields, expected) => {
    expect(partsOf({ role: 'assistant', content: 'hi', reasoning_content: 'why', ...fields })).toEqual(expected);
  });

  it('keeps refusals and the reference to an audio answer', () => {
    expect(partsOf({ role: 'assistant', content: null, refusal: 'no', audio: { id: 'a' } })).toEqual([
      { type: 'refusal', text: 'no' },
      { type: 'opaque', format: 'openai-chat', value: { audio: { id: 'a' } } },
    ]);
  });
});

describe('parts', () => {
  it.each<[string, JsonObject, Partial<Part>]>([
    [
      'an inline image',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      { media: 'image', mime: 'image/png', detail: 'low', source: { kind: 'data', data: 'AA==' } },
    ],
    [
      'a PDF as image_url',
      { type: 'image_url', image_url: { url: 'data:application/pdf;base64,AA==' } },
      { media: 'document', mime: 'application/pdf' },
    ],
    [
      'a film by URL',
      { type: 'image_url', image_url: { url: 'gs://b/x.mp4?v=1.png' } },
      { media: 'video', mime: 'video/mp4', source: { kind: 'url', url: 'gs://b/x.mp4?v=1.png' } },
    ],
    [
      'an explicit type before the extension',
      { type: 'image_url', image_url: { url: 'https://h/x.png', mime_type: 'audio/wav' } },
      { media: 'audio', mime: 'audio/wav' },
    ],
    [
      'format as an extension',
      { type: 'image_url', image_url: { url: 'https://h/x', format: 'webp' } },
      { mime: 'image/webp' },
    ],
    [
      'a URL that says nothing',
      { type: 'image_url', image_url: 'https://h/x' },
      { media: 'image', source: { kind: 'url', url: 'https://h/x' } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { media: 'audio', mime: 'audio/mp3' },
    ],
    [
      'mp4 sound',
      { type: 'input_audio', input_audio: { data: 'data:audio/x;base64,AA==', format: 'mp4' } },
      { mime: 'audio/mp4', source: { kind: 'data', data: 'AA==' } },
    ],
    [
      'a file',
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
      { media: 'document', mime: 'application/pdf', name: 'a.pdf' },
    ],
    ['a bare base64 file', { type: 'file', file: { file_data: 'AA==' } }, { mime: 'application/pdf' }],
    [
      'a bare base64 file with a name',
      { type: 'file', file: { file_data: 'AA==', filename: 'a.CSV' } },
      { mime: 'text/csv' },
    ],
    [
      'a file by id',
      { type: 'file', file: { file_id: 'file-1' } },
      { media: 'document', source: { kind: 'file', id: 'file-1' } },
    ],
    [
      'a file id that is an address',
      { type: 'file', file: { file_id: 'gs://b/a.pdf' } },
      { mime: 'application/pdf', source: { kind: 'url', url: 'gs://b/a.pdf' } },
    ],
    [
      'a file by URL',
      { type: 'file', file: { file_url: 'https://h/a.pdf' } },
      { mime: 'application/pdf', source: { kind: 'url', url: 'https://h/a.pdf' } },
    ],
    [
      'Anthropic’s cache marker with its time',
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { cache: { type: 'ephemeral', ttl: '1h' } },
    ],
    [
      'OpenAI’s cache marker',
      { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { cache: { type: 'ephemeral' } },
    ],
    [
      'a part of an unknown type',
      { type: 'hologram', hologram: 1 },
      { type: 'opaque', format: 'openai-chat', value: { type: 'hologram', hologram: 1 } },
    ],
  ])('reads %s', (_title, part, expected) => expect(userPart(part)).toMatchObject(expected));

  it('moves a cache marker of the message to its last part', () => {
    expect(partsOf({ role: 'user', content: 'x', cache_control: { type: 'ephemeral' } })).toEqual([
      { type: 'text', text: 'x', cache: { type: 'ephemeral' } },
    ]);
  });
});

describe('tools', () => {
  const toolOf = (tool: JsonObject): Tool => decodeRequest(body({ tools: [tool] })).tools![0]!;

  it('keeps a function with a special name whole, because its meaning depends on the target', () => {
    const parameters = { environment: 'ENVIRONMENT_BROWSER' };
    expect(toolOf({ type: 'function', function: { name: 'computer_use', description: 'd', parameters } })).toEqual({
      type: 'function',
      name: 'computer_use',
      description: 'd',
      parameters,
    });
  });

  it.each([
    ['web_search_20250305', 'web_search', undefined],
    ['google_search', 'web_search', undefined],
    ['code_execution', 'code_execution', undefined],
    ['computer_20250124', 'computer_use', undefined],
    ['bash_20250124', 'opaque', 'anthropic-messages'],
    ['shell', 'opaque', 'openai-chat'],
  ])('reads the type %s as a tool of the provider', (type, kind, format) => {
    expect(toolOf({ type, name: 'x' })).toEqual({
      type: 'builtin',
      kind,
      options: { type, name: 'x' },
      ...(format && { format }),
    });
  });

  it('joins any number of adjacent tool messages into one turn, and begins another after the next message', () => {
    const tool = (id: number) => ({ role: 'tool', tool_call_id: `c${id}`, content: 'r' });
    const many = Array.from({ length: 5000 }, (_, at) => tool(at));
    const { turns } = decodeRequest(body({ messages: [...many, { role: 'user', content: 'q' }, tool(0)] }));
    expect(turns.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['tool', 5000],
      ['user', 1],
      ['tool', 1],
    ]);
    expect(turns[0]?.parts.at(-1)).toMatchObject({ callId: 'c4999' });
  });

  it('converts functions and function_call', () => {
    const decoded = decodeRequest(body({ functions: [{ name: 'f' }], function_call: { name: 'f' } }));
    expect(decoded).toMatchObject({
      tools: [{ type: 'function', name: 'f' }],
      toolChoice: { mode: 'required', names: ['f'] },
    });
  });

  it.each([
    ['auto', { mode: 'auto' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'required', names: ['f'] },
    ],
    [
      { type: 'custom', custom: { name: 'f' } },
      { mode: 'required', names: ['f'] },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { mode: 'auto', names: ['f'] },
    ],
  ])('reads the choice %j', (tool_choice, expected) =>
    expect(decodeRequest(body({ tool_choice })).toolChoice).toEqual(expected),
  );

  it('reads cache markers from the tool or its function', () => {
    const cache_control = { type: 'ephemeral' };
    expect(toolOf({ type: 'function', function: { name: 'f', cache_control } })).toMatchObject({
      cache: { type: 'ephemeral' },
    });
    expect(toolOf({ type: 'function', cache_control, function: { name: 'f' } })).toMatchObject({
      cache: { type: 'ephemeral' },
    });
  });
});

describe('bodies that cannot be read', () => {
  it.each([
    [{ model: 5 }, 'model'],
    [{ messages: 'x' }, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [{ role: 'robot' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'not an address' } }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }] }, 'messages[0].tool_calls[0].function'],
    [{ tool_choice: 'any' }, 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.function'],
    [{ response_format: { type: 'yaml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ reasoning_effort: 'huge' }, 'reasoning_effort'],
    [{ thinking: { budget_tokens: 5 } }, 'thinking.type'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ stop: [1] }, 'stop[0]'],
  ])('%j is a fault of %s', (fields, param) => {
    const read = () => decodeRequest(body(fields));
    expect(read).toThrow(RequestFault);
    expect(read).toThrow(expect.objectContaining({ param }));
  });

  it('are refused or read, and never crash the decoder', () => {
    const keys = [
      'model',
      'messages',
      'role',
      'content',
      'type',
      'text',
      'tool_calls',
      'function',
      'name',
      'content_blocks',
      'content_parts',
      'tools',
      'tool_choice',
      'stop',
      'file',
      'image_url',
      'cache_control',
    ];
    const words = ['user', 'assistant', 'tool', 'text', 'file', 'function', 'thinking', 'image_url', 'custom', 'm'];
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<unknown>(null, 1, true, '', ...words),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys), tie('tree'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(tree, { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys), tree, { maxKeys: 6 }),
        (messages, fields) => {
          try {
            decodeRequest(deepFreeze({ model: 'm', messages, ...fields }));
          } catch (error) {
            expect(error).toBeInstanceOf(RequestFault);
            expect((error as RequestFault).param).toBeTruthy();
          }
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
