import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Conversation, JsonObject, Part, Tool, Turn } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';
import { CHAT_EXTENSIONS } from './extensions.ts';
import { withJoinedTexts } from './joined-texts.testkit.ts';
import { runs } from '../../../test/support/effort.ts';

const talk = (fields: Partial<Conversation>): Conversation => ({
  model: 'model-asked',
  turns: [],
  sampling: {},
  stream: false,
  ...fields,
});
const encode = (fields: Partial<Conversation>, host: 'direct' | 'vertex' = 'direct', at: Partial<RequestTarget> = {}) =>
  encodeWith({ encodeRequest }, deepFreeze(talk(fields)), requestTarget({ host, ...at }), replyContext());
/** OpenAI's own API. */
const encodeForOpenAi = (fields: Partial<Conversation>, model = 'gpt-5') =>
  encode(fields, 'direct', { model, extensions: new Set() });
const messageOf = (turn: Turn, host: 'direct' | 'vertex' = 'direct') => {
  const { body, losses } = encode({ turns: [turn] }, host);
  return { messages: body.messages, losses: losses.map(({ param, action }) => `${action} ${param}`) };
};

// ---------------------------------------------------------------- the law

const words = fc.string({ minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Omits undefined values, as a decoder does. */
function clean<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const url = (url: string, mime?: string): Part => ({
  type: 'media',
  media: 'image',
  ...(mime && { mime }),
  source: { kind: 'url', url },
});

const named = (name: string | undefined) => (name === undefined ? {} : { name });

const textPart = fc.record({ type: fc.constant('text' as const), text: words });
const userPart: fc.Arbitrary<Part> = fc.oneof(
  fc
    .tuple(textPart, fc.boolean())
    .map(([part, marked]): Part => (marked ? { ...part, cache: { type: 'ephemeral' } } : part)),
  base64.map((data): Part => ({
    type: 'media',
    media: 'image',
    mime: 'image/png',
    source: { kind: 'data', data },
    detail: 'low',
  })),
  base64.map((data): Part => ({ type: 'media', media: 'audio', mime: 'audio/wav', source: { kind: 'data', data } })),
  fc.tuple(base64, name).map(([data, name]): Part => ({
    type: 'media',
    media: 'document',
    mime: 'application/pdf',
    source: { kind: 'data', data },
    name,
  })),
  name.map((file): Part => ({
    type: 'media',
    media: 'image',
    mime: 'image/webp',
    source: { kind: 'url', url: `https://h.example/${file}.webp` },
  })),
  name.map((id): Part => ({ type: 'media', media: 'document', source: { kind: 'file', id } })),
  words.map((text): Part => ({ type: 'opaque', format: 'openai-chat', value: { type: 'hologram', text } })),
);
const call: fc.Arbitrary<Part> = fc.tuple(name, fc.json({ maxDepth: 1 }), fc.boolean()).map(([name, text, custom]) => ({
  type: 'tool_call',
  id: `call_${name}`,
  name,
  arguments: text,
  ...(custom && { custom }),
}));
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc
    .tuple(fc.array(textPart, { maxLength: 2 }), maybe(name))
    .map(([parts, name]) => ({ role: 'system' as const, parts, ...named(name) })),
  fc
    .tuple(fc.array(userPart, { maxLength: 3 }), maybe(name))
    .map(([parts, name]) => ({ role: 'user' as const, parts, ...named(name) })),
  fc
    .tuple(fc.array(textPart, { maxLength: 2 }), maybe(words), fc.array(call, { maxLength: 3 }))
    .map(([said, refusal, calls]) => ({
      role: 'assistant' as const,
      parts: [...said, ...(refusal ? [{ type: 'refusal' as const, text: refusal }] : []), ...calls],
    })),
  fc
    .array(fc.tuple(name, fc.array(textPart, { maxLength: 2 }), maybe(name)), { minLength: 1, maxLength: 3 })
    .map((results) => ({
      role: 'tool' as const,
      parts: results.map(([callId, content, name]) => ({
        type: 'tool_result' as const,
        callId,
        content,
        ...named(name),
      })),
    })),
);
/** Adjacent tool turns are one turn on this wire. */
const turns = fc
  .array(turn, { maxLength: 5 })
  .map((list) => list.filter((one, at) => one.role !== 'tool' || list[at - 1]?.role !== 'tool'));

const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    model: fc.constant('model-asked'),
    turns,
    maxTokens: maybe(fc.nat()),
    sampling: fc.record({
      temperature: maybe(fc.constantFrom(0, 0.5, 2)),
      topP: maybe(fc.constant(0.5)),
      seed: maybe(fc.integer()),
      stop: maybe(fc.array(words, { maxLength: 3 })),
      n: maybe(fc.constant(2)),
      logprobs: maybe(fc.boolean()),
      topLogprobs: maybe(fc.nat()),
      frequencyPenalty: maybe(fc.constant(1)),
      presencePenalty: maybe(fc.constant(-1)),
    }),
    tools: maybe(
      fc.array(
        fc.oneof(
          fc.record({
            type: fc.constant('function' as const),
            name,
            description: maybe(words),
            parameters: maybe(fc.constant({ type: 'object', properties: {} })),
            strict: maybe(fc.constant(false)),
          }),
          fc.record({
            type: fc.constant('function' as const),
            name,
            parameters: fc.constant({ type: 'object', properties: {}, additionalProperties: false }),
            strict: fc.constant(true),
          }),
          fc.record({ type: fc.constant('custom' as const), name, format: maybe(fc.constant({ type: 'text' })) }),
          fc.constant({
            type: 'builtin' as const,
            kind: 'opaque' as const,
            format: 'openai-chat' as const,
            options: { type: 'shell' },
          }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    ),
    toolChoice: maybe(
      fc.oneof(
        fc.constantFrom({ mode: 'auto' as const }, { mode: 'none' as const }, { mode: 'required' as const }),
        fc.record({
          mode: fc.constantFrom('auto' as const, 'required' as const),
          names: fc.array(name, { minLength: 1, maxLength: 2 }),
        }),
      ),
    ),
    parallelToolCalls: maybe(fc.boolean()),
    responseFormat: maybe(
      fc.oneof(
        fc.constantFrom({ type: 'text' as const }, { type: 'json_object' as const }),
        fc.record({
          type: fc.constant('json_schema' as const),
          name,
          schema: fc.constant({ type: 'object', additionalProperties: false }),
          strict: maybe(fc.boolean()),
        }),
      ),
    ),
    reasoning: maybe(fc.record({ effort: fc.constantFrom('none' as const, 'low' as const, 'max' as const) })),
    modalities: maybe(fc.constant(['text', 'audio'])),
    audio: maybe(fc.constant({ voice: 'v', format: 'wav' })),
    webSearch: maybe(fc.constant({ search_context_size: 'low' })),
    user: maybe(words),
    metadata: maybe(fc.constant({ a: 'b' })),
    serviceTier: maybe(fc.constantFrom('auto', 'flex')),
    verbosity: maybe(fc.constant('low')),
    stream: fc.boolean(),
    extras: maybe(fc.constant({ store: true, logit_bias: { '1': 1 } })),
  })
  .map((draft) => clean({ ...draft, ...(draft.extras && { extrasFormat: 'openai-chat' as const }) }) as Conversation);

it('encodes every conversation that OpenAI can express without loss, and decodes it to the same one', () => {
  fc.assert(
    fc.property(conversation, (asked) => {
      // OpenAI's own marker of a cache goes to no server that has Anthropic's.
      const extensions = new Set(CHAT_EXTENSIONS.filter((name) => name !== 'cache_control'));
      const { body, losses } = encodeWith(
        { encodeRequest },
        deepFreeze(asked),
        requestTarget({ extensions, customTools: true }),
        replyContext(),
      );
      expect(losses).toEqual([]);
      expect(decodeRequest(JSON.parse(JSON.stringify(body)))).toEqual(withJoinedTexts(asked));
    }),
    { numRuns: runs(400) },
  );
});

// ---------------------------------------------------------------- what differs by target, and what is lost

describe('fields', () => {
  it('requests usage on a stream, unless the server refuses the option', () => {
    expect(encode({ stream: true }).body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    const refusing = requestTarget({ streamUsage: false });
    expect(encodeWith({ encodeRequest }, talk({ stream: true }), refusing, replyContext()).body).toEqual({
      model: 'model-asked',
      messages: [],
      stream: true,
    });
    expect(encode({}).body).toEqual({ model: 'model-asked', messages: [] });
  });

  it('names the token limit as the host does', () => {
    expect(encode({ maxTokens: 5 }).body).toMatchObject({ max_completion_tokens: 5 });
    expect(encode({ maxTokens: 5 }, 'vertex').body).toMatchObject({ max_tokens: 5 });
  });

  it('sends extensions to targets that take them, and reports them as lost elsewhere', () => {
    const fields: Partial<Conversation> = {
      sampling: { topK: 3 },
      labels: { team: 'a' },
      safetySettings: [{ category: 'c' }],
      imageConfig: { aspectRatio: '1:1' },
      extras: { anthropic_version: 'v', min_p: 0.1 },
      extrasFormat: 'openai-chat',
    };
    const names = ['top_k', 'labels', 'safety_settings', 'image_config', 'anthropic_version'];
    expect(Object.keys(encode(fields).body)).toEqual(expect.arrayContaining(names));
    expect(encode(fields).losses).toEqual([]);
    const { body, losses } = encodeForOpenAi(fields);
    expect(body).toEqual({ model: 'gpt-5', messages: [], min_p: 0.1 });
    expect(losses.map(({ param, action }) => `${action} ${param}`).sort()).toEqual(
      names.map((name) => `dropped ${name}`).sort(),
    );
  });

  it.each<[string, { thinking?: JsonObject; effort?: string }, string | undefined, readonly string[]]>([
    ['gpt-5', { thinking: { type: 'enabled', budgetTokens: 9000 } }, 'high', ['downgraded thinking']],
    ['gpt-5', { thinking: { type: 'disabled' } }, undefined, ['dropped thinking']],
    ['gpt-5.1', { thinking: { type: 'disabled' } }, 'none', []],
    ['gpt-4.1', { thinking: { type: 'enabled', budgetTokens: 9000 } }, undefined, ['dropped thinking']],
    ['gpt-4.1', { thinking: { type: 'disabled' } }, undefined, []],
    ['gpt-4.1', { effort: 'high' }, undefined, ['dropped reasoning_effort']],
    ['prod', { effort: 'high' }, 'high', []],
    ['prod', { effort: 'high', thinking: { type: 'enabled', budgetTokens: 9 } }, 'high', ['dropped thinking']],
  ])('writes for %s at OpenAI the reasoning %j as effort %s', (model, reasoning, effort, expected) => {
    const { body, losses } = encodeForOpenAi({ reasoning: reasoning as Conversation['reasoning'] & object }, model);
    expect(body.reasoning_effort).toBe(effort);
    expect(losses.map(({ param, action }) => `${action} ${param}`)).toEqual(expected);
  });

  it.each([
    [{ type: 'enabled', budgetTokens: 0 }, 'none', ['thinking', 'reasoning_effort']],
    [{ type: 'enabled', budgetTokens: 1024 }, 'low', ['thinking', 'reasoning_effort']],
    [{ type: 'enabled', budgetTokens: 8192 }, 'medium', ['thinking', 'reasoning_effort']],
    [{ type: 'enabled', budgetTokens: 8193 }, 'high', ['thinking', 'reasoning_effort']],
    [{ type: 'adaptive' }, 'high', ['thinking']],
    [{ type: 'disabled' }, 'none', ['reasoning_effort']],
  ] as const)('says thinking %j as effort %s', (thinking, effort, losses) => {
    const encoded = encode({ reasoning: { effort: 'max', thinking } });
    expect(encoded.losses.map(({ param }) => param)).toEqual(losses);
    expect(encoded.body.reasoning_effort).toBe(thinking.type === 'adaptive' ? 'max' : effort);
    expect(encode({ reasoning: { thinking } }).body.reasoning_effort).toBe(effort);
  });

  it('does not lose an effort that agrees with the budget', () => {
    const { losses } = encode({ reasoning: { effort: 'low', thinking: { type: 'enabled', budgetTokens: 1024 } } });
    expect(losses.map(({ param }) => param)).toEqual(['thinking']);
  });

  it('writes thinking as an effort for every model of a server that takes thinking itself', () => {
    const thinking = { type: 'enabled', budgetTokens: 9000 } as const;
    const at = { model: 'glm', extensions: new Set(['thinking']) };
    expect(encode({ reasoning: { thinking } }, 'direct', at).body.reasoning_effort).toBe('high');
  });

  it('reports fields of other APIs', () => {
    const { losses, body } = encode({
      serviceTier: 'turbo',
      extras: { container: 'c' },
      extrasFormat: 'anthropic-messages',
    });
    expect(losses.map(({ param }) => param).sort()).toEqual(['container', 'service_tier']);
    expect(Object.keys(body)).toEqual(['model', 'messages']);
  });

  it('converts Anthropic’s name of the default tier', () =>
    expect(encode({ serviceTier: 'standard_only' }).body.service_tier).toBe('default'));

  it('names a schema that has no name', () => {
    expect(encode({ responseFormat: { type: 'json_schema', schema: {} } }).body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'output', schema: {} },
    });
  });
});

describe('tools', () => {
  it('turns hosted web search into web_search_options at a server that lists such tools, and loses it elsewhere', () => {
    const user_location = { type: 'approximate', city: 'Oslo' };
    const options = { type: 'web_search_20250305', name: 'web_search', max_uses: 3, user_location };
    const tools: Tool[] = [{ type: 'builtin', kind: 'web_search', options }];
    const elsewhere = encode({ tools });
    expect(elsewhere.body).not.toHaveProperty('web_search_options');
    expect(elsewhere.losses).toMatchObject([{ param: 'tools[0]', action: 'dropped' }]);
    const { body, losses } = encode({ tools }, 'direct', { extensions: new Set(['provider_tools']) });
    expect(body.web_search_options).toEqual({ user_location: { type: 'approximate', approximate: { city: 'Oslo' } } });
    expect(body.tools).toBeUndefined();
    expect(losses).toMatchObject([{ param: 'tools[0].max_uses', action: 'dropped' }]);
  });

  it('reports tools and markers that OpenAI lacks', () => {
    const { body, losses } = encode({
      tools: [
        { type: 'builtin', kind: 'url_context' },
        { type: 'function', name: 'f', cache: { type: 'ephemeral' } },
        { type: 'builtin', kind: 'opaque', format: 'gemini', options: {} },
      ],
    });
    expect(body.tools).toEqual([{ type: 'function', function: { name: 'f' } }]);
    expect(losses.map(({ param }) => param)).toEqual(['tools[0]', 'tools[1].cache_control', 'tools[2]']);
  });

  it('drops the tool choice when no tool can be sent', () => {
    const { body, losses } = encode({
      tools: [{ type: 'builtin', kind: 'url_context' }],
      toolChoice: { mode: 'required' },
      parallelToolCalls: false,
    });
    expect(Object.keys(body)).toEqual(['model', 'messages']);
    expect(losses.map(({ param }) => param)).toEqual(['tools[0]', 'tool_choice', 'parallel_tool_calls']);
  });

  it('leaves the verbosity of a Responses client out for servers that may not know the field', () => {
    const asked = { verbosity: 'low', extrasFormat: 'openai-responses' } as const;
    const dropped = encode(asked);
    expect(dropped.body).not.toHaveProperty('verbosity');
    expect(dropped.losses.map(({ action, param }) => `${action} ${param}`)).toEqual(['dropped verbosity']);
    expect(encode(asked, 'direct', { customTools: true })).toMatchObject({ body: { verbosity: 'low' }, losses: [] });
    expect(encode({ verbosity: 'low' }).body).toMatchObject({ verbosity: 'low' });
  });

  it('forces a free-text tool with the type custom', () => {
    const { body } = encode(
      { tools: [{ type: 'custom', name: 'g' }], toolChoice: { mode: 'required', names: ['g'] } },
      'direct',
      { customTools: true },
    );
    expect(body.tool_choice).toEqual({ type: 'custom', custom: { name: 'g' } });
  });

  it('sends a free-text tool and its calls as a function to a server without such tools', () => {
    const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } };
    const { body, losses, reply } = encode({
      tools: [{ type: 'custom', name: 'patch', description: 'Edits.', format }],
      toolChoice: { mode: 'required', names: ['patch'] },
      turns: [
        {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: 'c1', name: 'patch', arguments: 'a "b"', custom: true }],
        },
        { role: 'tool', parts: [{ type: 'tool_result', callId: 'c1', content: [{ type: 'text', text: 'done' }] }] },
      ],
    });
    expect(body).toMatchObject({
      tools: [
        {
          type: 'function',
          function: {
            name: 'patch',
            description: 'Edits.\n\n`input` has to match this grammar (lark):\nstart: "x"',
            parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'patch' } },
      messages: [
        { tool_calls: [{ type: 'function', function: { name: 'patch', arguments: '{"input":"a \\"b\\""}' } }] },
        { role: 'tool', tool_call_id: 'c1' },
      ],
    });
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual(['downgraded tools[0].custom.format']);
    expect(reply.customTools).toEqual(new Set(['patch']));
  });
});

describe('messages', () => {
  it('drops thinking and signatures, and reports each', () => {
    expect(
      messageOf({
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'hm', signature: 'S' },
          { type: 'text', text: 'hi', signature: 'T' },
          { type: 'tool_call', id: 'c', name: 'f', arguments: '', signature: 'U' },
        ],
      }),
    ).toEqual({
      messages: [
        {
          role: 'assistant',
          content: 'hi',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
      losses: [
        'dropped messages[0].content[0]',
        'dropped messages[0].content[1].signature',
        'dropped messages[0].tool_calls[0].function.thought_signature',
      ],
    });
  });

  it('sends a call’s signature in the field that Google’s OpenAI layer reads', () => {
    const { messages, losses } = messageOf(
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{}', signature: 'U' }] },
      'vertex',
    );
    expect(messages).toMatchObject([
      { content: null, tool_calls: [{ extra_content: { google: { thought_signature: 'U' } } }] },
    ]);
    expect(losses).toEqual([]);
  });

  it('sends media of a result after it, and a failure as text', () => {
    const image: Part = { type: 'media', media: 'image', mime: 'image/png', source: { kind: 'data', data: 'AA==' } };
    const { messages, losses } = messageOf({
      role: 'tool',
      parts: [
        { type: 'tool_result', callId: 'c', content: [{ type: 'text', text: 'broke' }, image], isError: true },
        { type: 'tool_result', callId: 'd', content: [], isError: true },
      ],
    });
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'Error: broke' },
      { role: 'tool', tool_call_id: 'd', content: 'Error: ' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
    ]);
    expect(losses).toEqual([
      'downgraded messages[0].content[1]',
      'downgraded messages[0].is_error',
      'downgraded messages[1].is_error',
    ]);
  });

  it('joins the texts of an answer, and those of a result by lines', () => {
    const texts: Part[] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const call: Part = { type: 'tool_call', id: 'c', name: 'f', arguments: '{}' };
    expect(messageOf({ role: 'assistant', parts: [...texts, call] }).messages).toMatchObject([{ content: 'ab' }]);
    const result: Part = { type: 'tool_result', callId: 'c', content: texts, isError: true };
    expect(messageOf({ role: 'tool', parts: [result] }).messages).toMatchObject([{ content: 'Error: a\nb' }]);
    expect(messageOf({ role: 'user', parts: texts }).messages).toEqual([{ role: 'user', content: texts }]);
  });

  it('loses fields attached to a call once', () => {
    const call: Part = { type: 'tool_call', id: 'c', name: 'f', arguments: '{}' };
    const value = { type: 'tool_use', caller: { type: 'code_execution_20250825' } };
    const fields: Part = { type: 'opaque', format: 'anthropic-messages', value, attached: true };
    expect(messageOf({ role: 'assistant', parts: [call, fields] }).losses).toEqual(['dropped messages[0].content[1]']);
  });

  it('keeps the parts of a failed result that are not text', () => {
    const value = { type: 'hologram' };
    const { messages } = messageOf({
      role: 'tool',
      parts: [
        {
          type: 'tool_result',
          callId: 'c',
          content: [{ type: 'opaque', format: 'openai-chat', value }],
          isError: true,
        },
      ],
    });
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'Error: ' }, value] },
    ]);
  });

  it('sends null for content only when another field replaces it', () => {
    const call: Part = { type: 'tool_call', id: 'c', name: 'f', arguments: '{}' };
    const audio: Part = { type: 'opaque', format: 'openai-chat', value: { audio: { id: 'a' } } };
    const contentOf = (...parts: Part[]) => messageOf({ role: 'assistant', parts }).messages;
    expect(contentOf()).toEqual([{ role: 'assistant', content: '' }]);
    expect(contentOf({ type: 'thinking', text: 'hm' })).toEqual([]);
    expect(contentOf(call)).toMatchObject([{ content: null }]);
    expect(contentOf({ type: 'refusal', text: 'No.' })).toEqual([{ role: 'assistant', content: null, refusal: 'No.' }]);
    expect(contentOf(audio)).toEqual([{ role: 'assistant', content: null, audio: { id: 'a' } }]);
  });

  it.each<[string, Part, readonly string[]]>([
    ['a name that says it', url('https://h.example/a.png', 'image/png'), []],
    ['no type at all', url('https://h.example/a'), []],
    [
      'a name that says another',
      url('https://h.example/a.png', 'image/webp'),
      ['dropped messages[0].content[0].mime_type'],
    ],
    ['a name that says none', url('https://h.example/a', 'image/webp'), ['dropped messages[0].content[0].mime_type']],
  ])('reports the type of media by URL with %s', (_title, part, losses) => {
    expect(messageOf({ role: 'user', parts: [part] }).losses).toEqual(losses);
  });

  it('marks user parts for OpenAI only, and reports the lost time to live', () => {
    const marked: Turn = {
      role: 'user',
      parts: [{ type: 'text', text: 'x', cache: { type: 'ephemeral', ttl: '1h' } }],
    };
    const { body, losses } = encodeForOpenAi({ turns: [marked] });
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }] },
    ]);
    expect(losses).toMatchObject([{ action: 'downgraded', param: 'messages[0].content[0].cache_control.ttl' }]);
    // Servers other than OpenAI's may refuse a field that they do not know.
    for (const host of ['direct', 'vertex'] as const)
      expect(messageOf(marked, host)).toEqual({
        messages: [{ role: 'user', content: 'x' }],
        losses: ['dropped messages[0].content[0].cache_control'],
      });
    expect(messageOf({ ...marked, role: 'system' }).losses).toEqual(['dropped messages[0].content[0].cache_control']);
  });

  it('reports content after a call', () => {
    expect(
      messageOf({
        role: 'assistant',
        parts: [
          { type: 'tool_call', id: 'c', name: 'f', arguments: '{}' },
          { type: 'text', text: 'after' },
        ],
      }).losses,
    ).toEqual(['downgraded messages[0].content[1]']);
  });

  it.each([
    ['application/pdf', undefined, 'document.pdf'],
    ['text/csv; charset=utf-8', undefined, 'document.csv'],
    ['application/x-unknown', undefined, 'document'],
    ['application/pdf', 'Report', 'Report'],
  ])('names a document of type %s with the title %s: %s', (mime, name, filename) => {
    const part: Part = {
      type: 'media',
      media: 'document',
      mime,
      source: { kind: 'data', data: 'AA==' },
      ...(name !== undefined && { name }),
    };
    expect(messageOf({ role: 'user', parts: [part] })).toMatchObject({
      messages: [{ content: [{ type: 'file', file: { filename } }] }],
      losses: [],
    });
  });

  it('sends the text of a text document', () => {
    expect(
      messageOf({
        role: 'user',
        parts: [
          { type: 'media', media: 'document', mime: 'text/plain', source: { kind: 'text', text: 'T' }, name: 'a.txt' },
        ],
      }),
    ).toEqual({ messages: [{ role: 'user', content: 'T' }], losses: ['dropped messages[0].content[0].filename'] });
  });

  it.each<Part>([
    { type: 'media', media: 'image', source: { kind: 'data', data: 'AA==' } },
    { type: 'media', media: 'audio', mime: 'audio/unheard-of', source: { kind: 'data', data: 'AA==' } },
  ])('refuses media without a type: %j', (part) => {
    expect(() => encode({ turns: [{ role: 'user', parts: [part] }] })).toThrow(RequestFault);
  });
});
