import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Conversation, JsonObject, MediaPart, Part, Reasoning, Turn } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import { ToolIds } from './tool-ids.ts';

const MANUAL = 'claude-sonnet-4-5-20250929';
const ADAPTIVE = 'claude-opus-4-8';

const user = (text: string): Turn => ({ role: 'user', parts: [{ type: 'text', text }] });

function conversation(overrides: Partial<Conversation> = {}): Conversation {
  return { model: 'm', turns: [user('hi')], maxTokens: 100, sampling: {}, stream: false, ...overrides };
}

function encode(overrides: Partial<Conversation> = {}, target: Partial<RequestTarget> = {}) {
  const input = deepFreeze(conversation(overrides));
  const { body, losses, reply } = encodeWith(
    format,
    input,
    requestTarget({ model: MANUAL, ...target }),
    replyContext(),
  );
  return { body, losses: losses.map(({ param, action }) => `${action} ${param}`), reply };
}

function faultOf(run: () => unknown): Pick<RequestFault, 'code' | 'param' | 'message'> {
  try {
    run();
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const call = (id: string, args = '{}', name = 'f'): Part => ({ type: 'tool_call', id, name, arguments: args });
const result = (callId: string, text: string): Part => ({
  type: 'tool_result',
  callId,
  content: [{ type: 'text', text }],
});
const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } } as const;

describe('encodeRequest: input of unbounded size', () => {
  it('wraps the text of arguments that nest too deep, and reports it', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const { body, losses } = encode({ turns: [user('q'), { role: 'assistant', parts: [call('c', deep)] }] });
    expect(body.messages).toMatchObject([{}, { content: [{ input: { value: deep } }] }]);
    expect(losses).toEqual(['downgraded messages[1].tool_calls[0].function.arguments']);
  });

  it('numbers ids that would collide, past the numbers that are taken', () => {
    const ids = new ToolIds();
    const given = ['a_3', 'ä', 'a:', 'a.', 'a!', 'a:', 'a_', 'a__2'];
    expect(given.map((id) => ids.wire(id))).toEqual(['a_3', '_', 'a_', 'a__2', 'a__3', 'a_', 'a__4', 'a__2_2']);
  });
});

describe('encodeRequest: hosts', () => {
  it('names the model in the body for the direct API', () => {
    expect(encode().body).toEqual({
      model: MANUAL,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    });
  });

  it('gives Vertex its version instead, and keeps `stream` in the body', () => {
    const { body } = encode({ stream: true }, { host: 'vertex', model: 'claude-sonnet-4-5@20250929' });
    expect(body).not.toHaveProperty('model');
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true });
  });

  it('takes the version for Vertex from the caller’s body, and reports it as lost on the direct API', () => {
    const extras = { anthropic_version: 'vertex-2026-10-21', anthropic_beta: ['x'] };
    const vertex = encode({ extras, extrasFormat: 'openai-chat' }, { host: 'vertex' });
    expect(vertex.body.anthropic_version).toBe('vertex-2026-10-21');
    const direct = encode({ extras, extrasFormat: 'openai-chat' });
    expect(direct.body).not.toHaveProperty('anthropic_version');
    expect(vertex.losses).toEqual([]);
    expect(direct.losses).toEqual(['dropped anthropic_version']);
  });

  it('refuses a request without a limit, naming both names of the field', () => {
    const { maxTokens: _, ...unlimited } = conversation();
    const fault = faultOf(() => encodeWith(format, unlimited, requestTarget(), replyContext()));
    expect(fault).toMatchObject({ code: 'missing_required_parameter', param: 'max_tokens' });
    expect(fault.message).toContain('max_completion_tokens');
  });
});

describe('encodeRequest: messages', () => {
  it('hoists every system turn, with its cache marker', () => {
    const { body } = encode({
      turns: [
        { role: 'system', parts: [{ type: 'text', text: 'one', cache: { type: 'ephemeral', ttl: '1h' } }] },
        user('hi'),
        { role: 'system', parts: [{ type: 'text', text: 'two' }] },
        user('there'),
      ],
    });
    expect(body.system).toEqual([
      { type: 'text', text: 'one', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'two' },
    ]);
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'there' },
        ],
      },
    ]);
  });

  it('puts scrambled results in the order of their calls, in one user message, before the user’s text', () => {
    const { body } = encode({
      turns: [
        user('go'),
        { role: 'assistant', parts: [{ type: 'text', text: 'Right.' }, call('a', '{"x":1}'), call('b')] },
        { role: 'tool', parts: [result('b', '2')] },
        { role: 'tool', parts: [result('a', '1')] },
        user('and?'),
      ],
      tools: [tool],
    });
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Right.' },
          { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '1' }] },
          { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: '2' }] },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  it('puts thinking first, then text, then calls, and drops unsigned thinking', () => {
    const { body, losses } = encode({
      turns: [
        user('go'),
        {
          role: 'assistant',
          parts: [
            call('a'),
            { type: 'text', text: 'Right.' },
            { type: 'thinking', text: 'unsigned' },
            { type: 'thinking', text: '', signature: 's' },
            { type: 'redacted_thinking', data: 'd' },
          ],
        },
        { role: 'tool', parts: [result('a', '1')] },
      ],
      tools: [tool],
    });
    expect((body.messages as JsonObject[])[1]).toMatchObject({
      content: [
        { type: 'thinking', thinking: '', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'text', text: 'Right.' },
        { type: 'tool_use' },
      ],
    });
    expect(losses).toEqual(['dropped messages[1].content[2]']);
  });

  it('rewrites ids that Claude refuses, alike in call and result, and removes their signatures', () => {
    const { body } = encode({
      turns: [
        user('go'),
        { role: 'assistant', parts: [call('a.b'), call('a_b'), call('call_1__thought__c2ln')] },
        { role: 'tool', parts: [result('call_1', '3'), result('a_b', '2'), result('a.b', '1')] },
      ],
      tools: [tool],
    });
    const [, asked, answered] = body.messages as { content: JsonObject[] }[];
    expect(asked?.content.map((block) => block.id)).toEqual(['a_b', 'a_b_2', 'call_1']);
    expect(answered?.content.map((block) => block.tool_use_id)).toEqual(['a_b', 'a_b_2', 'call_1']);
    expect(answered?.content.map((block) => block.content)).toMatchObject([
      [{ text: '1' }],
      [{ text: '2' }],
      [{ text: '3' }],
    ]);
  });

  it('leaves out empty text, reports blank text, and trims the end of a prefill', () => {
    const { body, losses } = encode({
      turns: [
        {
          role: 'user',
          parts: [
            { type: 'text', text: '' },
            { type: 'text', text: 'hi' },
            { type: 'text', text: '\n' },
          ],
        },
        { role: 'assistant', parts: [{ type: 'text', text: 'Sure: \n' }] },
      ],
    });
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Sure:' }] },
    ]);
    expect(losses).toEqual(['dropped messages[0].content[2]']);
  });

  it('reads empty arguments as {}, and wraps other values than objects and invalid JSON', () => {
    const turns = (args: string): Turn[] => [user('go'), { role: 'assistant', parts: [call('a', args)] }];
    const inputOf = (args: string) => {
      const { body, losses } = encode({ turns: turns(args), tools: [tool] });
      return { input: (body.messages as { content: JsonObject[] }[])[1]?.content[0]?.input, losses };
    };
    expect(inputOf('')).toEqual({ input: {}, losses: [] });
    expect(inputOf('[1]')).toEqual({
      input: { value: [1] },
      losses: ['downgraded messages[1].tool_calls[0].function.arguments'],
    });
    expect(inputOf('{"a":')).toEqual({
      input: { value: '{"a":' },
      losses: ['downgraded messages[1].tool_calls[0].function.arguments'],
    });
  });

  it('keeps opaque blocks of this format and the fields that belong to a block, and reports those of others', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const { body, losses } = encode({
      turns: [
        user('go'),
        {
          role: 'assistant',
          parts: [
            { type: 'opaque', format: 'anthropic-messages', value: search },
            { type: 'text', text: 'It rains.' },
            {
              type: 'opaque',
              format: 'anthropic-messages',
              value: { type: 'text', citations: [{ type: 'char_location' }] },
              attached: true,
            },
            { type: 'opaque', format: 'anthropic-messages', value: { container: { id: 'c' } } },
            { type: 'opaque', format: 'gemini', value: { groundingMetadata: {} } },
          ],
        },
        user('and?'),
      ],
    });
    expect((body.messages as JsonObject[])[1]).toEqual({
      role: 'assistant',
      content: [search, { type: 'text', text: 'It rains.', citations: [{ type: 'char_location' }] }],
    });
    expect(losses).toEqual(['dropped messages[1].content[4]']);
  });
});

describe('a body of this format on its way to Claude again', () => {
  const again = (body: JsonObject, target: Partial<RequestTarget> = {}) => {
    const decoded = format.decodeRequest(deepFreeze({ model: 'm', max_tokens: 100, messages: [], ...body }));
    return encodeWith(format, decoded, requestTarget({ model: MANUAL, ...target }), replyContext());
  };

  it('keeps the block order of an assistant turn', () => {
    const content = [
      { type: 'text', text: 'First.' },
      { type: 'thinking', thinking: 'then', signature: 's' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
      { type: 'tool_use', id: 'b', name: 'f', input: {}, caller: { type: 'code_execution_20260120', tool_id: 's' } },
      { type: 'text', text: 'Last.' },
    ];
    const { body, losses } = again({ messages: [{ role: 'assistant', content }] });
    expect(body.messages).toEqual([{ role: 'assistant', content }]);
    expect(losses).toEqual([]);
  });

  it('treats a direct caller, which this gateway writes on every call, as no caller', () => {
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
    const content = [{ ...call, caller: { type: 'direct' } }];
    const { turns } = format.decodeRequest({ model: 'm', messages: [{ role: 'assistant', content }] });
    expect(turns[0]?.parts).toEqual([{ type: 'tool_call', id: 'a', name: 'f', arguments: '{}' }]);
  });

  it('sends betas in the header, and for Vertex in the body as well', () => {
    const anthropic_beta = ['context-1m-2025-08-07'];
    const direct = again({ anthropic_beta });
    expect(direct.body).not.toHaveProperty('anthropic_beta');
    expect(direct.headers).toEqual({ 'anthropic-beta': 'context-1m-2025-08-07' });
    expect(again({ anthropic_beta }, { host: 'vertex' })).toMatchObject({
      body: { anthropic_beta },
      headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
    });
  });

  it.each([
    [ADAPTIVE, { thinking: { type: 'between_tools' } }, []],
    [MANUAL, {}, ['dropped thinking']],
  ])('sends thinking between tools to %s only if the model accepts it', (model, sent, lost) => {
    const { body, losses } = again({ thinking: { type: 'between_tools' } }, { model });
    expect(JSON.parse(JSON.stringify({ thinking: body.thinking }))).toEqual(sent);
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual(lost);
  });

  it.each([
    ['claude-opus-5', 'high', ['clamped output_config.effort']],
    ['claude-sonnet-5', 'max', []],
  ])('limits %s without thinking to effort %s', (model, effort, lost) => {
    const { body, losses } = again({ thinking: { type: 'disabled' }, output_config: { effort: 'max' } }, { model });
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, output_config: { effort } });
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual(lost);
  });
});

describe('encodeRequest: computer use that falls through to Claude', () => {
  const computer = { type: 'function', name: 'computer_use', parameters: {} } as const;
  const screen: Part = { type: 'media', media: 'image', mime: 'image/png', source: { kind: 'data', data: 'iVBO' } };
  const text: Part = { type: 'text', text: 'Opened.' };
  const opened = [call('c1', '{}', 'open_web_browser'), call('c2', '{}', 'click_at')];
  const turns: Turn[] = [user('q'), { role: 'assistant', parts: opened }, { role: 'user', parts: [text, screen] }];
  const last = (fields: Partial<Conversation>) => (encode({ turns, ...fields }).body.messages as JsonObject[])[2];

  it('sends the user’s message about its actions as their results, the image with the last', () => {
    expect(last({ tools: [computer] })).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Opened.' }] },
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: [
            { type: 'text', text: 'Opened.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
          ],
        },
      ],
    });
  });

  it('keeps given results, and takes the missing ones from the user’s message', () => {
    const answered: Turn[] = [turns[0]!, turns[1]!, { role: 'tool', parts: [result('c2', 'ok')] }, turns[2]!];
    expect(last({ tools: [computer], turns: answered })).toMatchObject({
      content: [
        { type: 'tool_result', tool_use_id: 'c1' },
        { type: 'tool_result', tool_use_id: 'c2', content: [{ text: 'ok' }] },
      ],
    });
  });

  it('reports a loss in a message of several results once, at its place in the message', () => {
    const quoted: Part = { type: 'opaque', format: 'gemini', value: {} };
    const said: Turn = { role: 'user', parts: [screen, quoted] };
    const { losses } = encode({ tools: [computer], turns: [turns[0]!, turns[1]!, said] }, { onUnreadablePart: 'drop' });
    expect(losses).toEqual(['dropped messages[2].content[1]']);
  });

  it('gets no results when the tool is not declared', () => {
    expect(last({ tools: [tool] })).toMatchObject({ content: [{ type: 'text' }, { type: 'image' }] });
  });
});

describe('encodeRequest: media', () => {
  const media = (part: Partial<MediaPart>): Turn[] => [
    { role: 'user', parts: [{ type: 'media', media: 'image', source: { kind: 'data', data: 'aGk=' }, ...part }] },
  ];
  const first = (turns: Turn[]) => (encode({ turns }).body.messages as { content: JsonObject[] }[])[0]?.content[0];

  it.each([
    [{ mime: 'image/png' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
    [
      { mime: 'application/pdf', media: 'document', name: 'a.pdf' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
    ],
    [
      { mime: 'text/plain; charset=utf-8', media: 'document' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
    ],
    [{ source: { kind: 'file', id: 'file_1' } }, { type: 'image', source: { type: 'file', file_id: 'file_1' } }],
  ] as const)('sends %o as Claude’s block', (part, block) => {
    expect(first(media(part))).toEqual(block);
  });

  it('decodes a text by its charset, and reports other type parameters as lost', () => {
    const text = { media: 'document', mime: 'text/plain', source: { kind: 'data', data: '6Q==' } } as const;
    expect(first(media({ ...text, parameters: 'charset=iso-8859-1' }))).toMatchObject({ source: { data: 'é' } });
    expect(faultOf(() => first(media({ ...text, parameters: 'charset=klingon' })))).toMatchObject({
      code: 'invalid_value',
      param: 'messages[0].content[0]',
    });
    expect(encode({ turns: media({ mime: 'image/png', parameters: 'q=1' }) }).losses).toEqual([
      'dropped messages[0].content[0]',
    ]);
    expect(encode({ turns: media({ ...text, parameters: 'charset=iso-8859-1' }) }).losses).toEqual([]);
  });

  it.each(['image', 'document'] as const)('never sends the id of a file at OpenAI, as an %s', (kind) => {
    const part = { media: kind, source: { kind: 'file', id: 'file-6F2ksmvXxt4VdoqmHRw6kL' } } as const;
    expect(faultOf(() => first(media(part)))).toMatchObject({
      code: 'invalid_value',
      param: 'messages[0].content[0]',
    });
  });

  it.each([
    { source: { kind: 'url', url: 'https://a.example/a.png' }, mime: 'image/png' },
    { source: { kind: 'url', url: 'gs://bucket/a.png' }, mime: 'image/png' },
    { mime: 'image/tiff' },
    { media: 'audio', mime: 'audio/wav' },
    {},
  ] as const)('refuses %o and names the part', (part) => {
    const fault = faultOf(() => first(media(part)));
    expect(fault).toMatchObject({ code: 'invalid_value', param: 'messages[0].content[0]' });
  });

  it('lets a body of this format name a URL on the direct API, but not on Vertex', () => {
    const turns = media({ source: { kind: 'url', url: 'https://a.example/a.png' } });
    const native = { turns, extrasFormat: 'anthropic-messages' } as const;
    expect(encode(native).body.messages).toMatchObject([{ content: [{ source: { type: 'url' } }] }]);
    expect(faultOf(() => encode(native, { host: 'vertex' })).param).toBe('messages[0].content[0]');
  });
});

describe('encodeRequest: sampling', () => {
  it.each([
    [
      'claude-3-5-haiku-20241022',
      { temperature: 1.7, topP: 0.5, topK: 9 },
      { temperature: 1, top_p: 0.5, top_k: 9 },
      ['clamped temperature'],
    ],
    ['claude-sonnet-4-5@20250929', { temperature: 0.2, topP: 0.5 }, { temperature: 0.2 }, ['dropped top_p']],
    ['claude-opus-4-6', { temperature: 0.2, topK: 9 }, { temperature: 0.2, top_k: 9 }, []],
    [
      'claude-opus-4-7',
      { temperature: 0.2, topP: 0.5, topK: 9 },
      {},
      ['dropped temperature', 'dropped top_p', 'dropped top_k'],
    ],
    ['claude-fable-5', { temperature: 1 }, { temperature: 1 }, []],
    ['claude-next-9', { temperature: 0.2 }, {}, ['dropped temperature']],
  ])('for %s turns %o into %o', (model, sampling, sent, losses) => {
    const { body, losses: reported } = encode({ sampling }, { model });
    const { temperature, top_p, top_k } = body;
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(sent);
    expect(reported).toEqual(losses);
  });

  it('leaves temperature to the model while it thinks', () => {
    const { body, losses } = encode({
      sampling: { temperature: 0.3 },
      maxTokens: 20_000,
      reasoning: { effort: 'low' },
    });
    expect(body).not.toHaveProperty('temperature');
    expect(losses).toEqual(['dropped temperature']);
  });

  it('reports every OpenAI setting that Claude lacks, and removes blank stop sequences', () => {
    const { body, losses } = encode({
      sampling: {
        seed: 1,
        frequencyPenalty: 1,
        presencePenalty: 1,
        logprobs: true,
        topLogprobs: 2,
        stop: ['END', '\n'],
      },
      verbosity: 'low',
      labels: { a: 'b' },
      metadata: { a: 'b' },
      user: 'u1',
      serviceTier: 'flex',
      extras: { logit_bias: {}, store: true, prediction: {} },
      extrasFormat: 'openai-chat',
    });
    expect(body).toMatchObject({ stop_sequences: ['END'], metadata: { user_id: 'u1' } });
    expect(losses.toSorted()).toEqual(
      [
        'frequency_penalty',
        'labels',
        'logit_bias',
        'logprobs',
        'metadata',
        'prediction',
        'presence_penalty',
        'seed',
        'service_tier',
        'stop',
        'store',
        'top_logprobs',
        'verbosity',
      ].map((param) => `dropped ${param}`),
    );
  });

  it('refuses several answers and audio answers', () => {
    expect(faultOf(() => encode({ sampling: { n: 2 } }))).toMatchObject({ code: 'unsupported_parameter', param: 'n' });
    expect(faultOf(() => encode({ modalities: ['text', 'audio'] })).param).toBe('modalities');
    expect(faultOf(() => encode({ audio: { voice: 'x' } })).param).toBe('audio');
    expect(encode({ sampling: { n: 1 }, modalities: ['text'] }).losses).toEqual([]);
  });

  it('maps the service tier and the safety identifier', () => {
    const extras = { safety_identifier: 's1' };
    const { body, losses } = encode({ serviceTier: 'default', extras, extrasFormat: 'openai-chat' });
    expect(body).toMatchObject({ service_tier: 'standard_only', metadata: { user_id: 's1' } });
    expect(losses).toEqual([]);
  });
});

describe('encodeRequest: thinking', () => {
  const cases: readonly (readonly [string, Reasoning, number, JsonObject, readonly string[]])[] = [
    [MANUAL, { effort: 'medium' }, 20_000, { thinking: { type: 'enabled', budget_tokens: 10_000 } }, []],
    [MANUAL, { effort: 'none' }, 20_000, {}, []],
    [
      MANUAL,
      { effort: 'high' },
      8000,
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      ['clamped reasoning_effort'],
    ],
    [MANUAL, { effort: 'low' }, 500, {}, ['dropped reasoning_effort']],
    [
      MANUAL,
      { thinking: { type: 'enabled', budgetTokens: 2000 } },
      4000,
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      [],
    ],
    [
      MANUAL,
      { thinking: { type: 'enabled', budgetTokens: 10 } },
      4000,
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      ['clamped thinking.budget_tokens'],
    ],
    [MANUAL, { thinking: { type: 'enabled', budgetTokens: 0 } }, 4000, { thinking: { type: 'disabled' } }, []],
    [
      MANUAL,
      { thinking: { type: 'adaptive' } },
      40_000,
      { thinking: { type: 'enabled', budget_tokens: 16_384 } },
      ['downgraded thinking'],
    ],
    [
      'claude-opus-4-6',
      { thinking: { type: 'enabled', budgetTokens: 2000 } },
      4000,
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      [],
    ],
    [
      'claude-opus-4-6',
      { effort: 'xhigh' },
      100,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
      ['clamped reasoning_effort'],
    ],
    [
      ADAPTIVE,
      { effort: 'xhigh' },
      100,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
      [],
    ],
    [
      ADAPTIVE,
      { effort: 'minimal' },
      100,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
      ['clamped reasoning_effort'],
    ],
    [ADAPTIVE, { effort: 'none' }, 100, { thinking: { type: 'disabled' } }, []],
    [
      ADAPTIVE,
      { thinking: { type: 'enabled', budgetTokens: 5000 } },
      100,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
      ['downgraded thinking.budget_tokens'],
    ],
    [
      ADAPTIVE,
      { thinking: { type: 'enabled', budgetTokens: 2000 }, effort: 'high' },
      100,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
      ['downgraded thinking.budget_tokens', 'dropped reasoning_effort'],
    ],
    ['claude-fable-5', { effort: 'none' }, 100, {}, ['dropped reasoning_effort']],
    ['claude-next-9', { effort: 'none' }, 100, { thinking: { type: 'disabled' } }, []],
    [
      'claude-sonnet-5-5',
      { effort: 'none' },
      100,
      { thinking: { type: 'between_tools' } },
      ['downgraded reasoning_effort'],
    ],
    ['claude-3-5-sonnet-20240620', { effort: 'high' }, 100, {}, ['dropped reasoning_effort']],
  ];
  it.each(cases)('for %s turns %o under max_tokens %i into %o', (...row) => {
    const [model, reasoning, maxTokens, sent, losses] = row;
    const { body, losses: reported } = encode({ reasoning, maxTokens }, { model });
    const { thinking, output_config } = body;
    expect(JSON.parse(JSON.stringify({ thinking, output_config }))).toEqual(sent);
    expect(reported).toEqual(losses);
  });

  const loop = (first: readonly Part[]): Turn[] => [
    user('go'),
    { role: 'assistant', parts: first },
    { role: 'tool', parts: [result('a', '1')] },
    { role: 'assistant', parts: [call('b')] },
    { role: 'tool', parts: [result('b', '2')] },
  ];
  const reasoning = { thinking: { type: 'enabled', budgetTokens: 1024 } } as const;

  it('is dropped when the turn that began the tool loop has lost its thinking', () => {
    const { body, losses } = encode({ turns: loop([call('a')]), tools: [tool], reasoning, maxTokens: 4000 });
    expect(body).not.toHaveProperty('thinking');
    expect(losses).toEqual(['dropped thinking']);
  });

  it('stays when only later turns of the loop have none, or when the loop is over', () => {
    const signed: Part = { type: 'thinking', text: 't', signature: 's' };
    for (const turns of [
      loop([signed, call('a')]),
      [...loop([call('a')]), { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] } as const, user('next')],
    ]) {
      expect(encode({ turns, tools: [tool], reasoning, maxTokens: 4000 }).body.thinking).toMatchObject({
        type: 'enabled',
      });
    }
  });
});

describe('encodeRequest: tools', () => {
  it('forces the root type of a schema and keeps all the rest of it', () => {
    const parameters = {
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { type: 'string' } },
      additionalProperties: false,
    };
    const { body } = encode({
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters },
        { type: 'function', name: 'g' },
      ],
    });
    expect(body.tools).toEqual([
      { name: 'f', description: 'd', input_schema: { ...parameters, type: 'object' } },
      { name: 'g', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('sends strict tools where they are served and reports them elsewhere', () => {
    const tools = [{ ...tool, strict: true }];
    expect(encode({ tools }).body.tools).toMatchObject([{ strict: true }]);
    expect(encode({ tools }, { host: 'vertex' }).losses).toEqual(['dropped tools[0].function.strict']);
    expect(encode({ tools }, { model: 'claude-sonnet-4-20250514' }).losses).toEqual([
      'dropped tools[0].function.strict',
    ]);
  });

  it('sends a free-text tool as a function with one string, and names it in the reply context', () => {
    const { body, reply } = encode({
      tools: [{ type: 'custom', name: 'sql' }],
      turns: [
        user('q'),
        {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: 'a', name: 'sql', arguments: 'SELECT 1', custom: true }],
        },
      ],
    });
    expect(body.tools).toEqual([
      { name: 'sql', input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } },
    ]);
    expect(body.messages).toMatchObject([{}, { content: [{ type: 'tool_use', input: { input: 'SELECT 1' } }] }]);
    expect(reply.customTools).toEqual(new Set(['sql']));
  });

  it('sends a function called web_search as a function, and a dated type as the server tool', () => {
    const fn = { type: 'function', function: { name: 'web_search', description: 'd', parameters: { type: 'object' } } };
    const dated = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    const { body, losses } = encode({
      tools: [
        { type: 'builtin', kind: 'web_search', options: fn },
        { type: 'builtin', kind: 'web_search', options: dated },
        { type: 'builtin', kind: 'google_maps' },
      ],
    });
    expect(body.tools).toEqual([{ name: 'web_search', description: 'd', input_schema: { type: 'object' } }, dated]);
    expect(losses).toEqual(['dropped tools[2]']);
  });

  it('adds one search tool for web_search_options: tool names are unique', () => {
    const webSearch = {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { city: 'Rome' } },
    };
    const search = { type: 'web_search_20250305', name: 'web_search' };
    expect(encode({ webSearch })).toMatchObject({
      body: { tools: [{ ...search, user_location: { type: 'approximate', city: 'Rome' } }] },
      losses: ['dropped web_search_options.search_context_size'],
    });
    const options = { type: 'web_search', allowed_domains: ['a.example'], max_uses: 2, search_context_size: 'low' };
    expect(encode({ webSearch, tools: [{ type: 'builtin', kind: 'web_search', options }] })).toMatchObject({
      body: { tools: [{ ...search, allowed_domains: ['a.example'], max_uses: 2 }] },
      losses: ['dropped tools[0].search_context_size', 'dropped web_search_options'],
    });
  });

  const two = [tool, { type: 'function', name: 'g' }] as const;
  it.each([
    [{ toolChoice: { mode: 'auto' } }, { type: 'auto' }, 2],
    [{ toolChoice: { mode: 'none' } }, { type: 'none' }, 2],
    [{ toolChoice: { mode: 'required' } }, { type: 'any' }, 2],
    [{ toolChoice: { mode: 'required', names: ['g'] } }, { type: 'tool', name: 'g' }, 2],
    [{ toolChoice: { mode: 'auto', names: ['g'] } }, { type: 'auto' }, 1],
    [{ toolChoice: { mode: 'required', names: ['f', 'g'] } }, { type: 'any' }, 2],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }, 2],
    [{ parallelToolCalls: true }, undefined, 2],
    [
      { toolChoice: { mode: 'required' }, parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
      2,
    ],
  ] as const)('turns %o into %o', (wanted, choice, count) => {
    const { body, losses } = encode({ tools: two, ...wanted });
    expect(body.tool_choice).toEqual(choice);
    expect(body.tools).toHaveLength(count);
    expect(losses).toEqual([]);
  });

  it.each([
    [MANUAL, { reasoning: { thinking: { type: 'enabled', budgetTokens: 1024 } }, maxTokens: 4000 }],
    ['claude-fable-5', {}],
  ] as const)('asks %s instead of forcing it, with only the named tool left', (model, overrides) => {
    const { body, losses } = encode(
      { tools: two, toolChoice: { mode: 'required', names: ['g'] }, ...overrides },
      { model },
    );
    expect(body).toMatchObject({ tool_choice: { type: 'auto' }, tools: [{ name: 'g' }] });
    expect(losses).toEqual(['downgraded tool_choice']);
  });

  it('forces a tool beside adaptive thinking, which accepts that', () => {
    const { body, losses } = encode(
      { tools: two, toolChoice: { mode: 'required' }, reasoning: { effort: 'low' } },
      { model: ADAPTIVE },
    );
    expect(body).toMatchObject({ tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } });
    expect(losses).toEqual([]);
  });
});

describe('encodeRequest: response format', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] };
  const responseFormat = { type: 'json_schema', name: 'answer', schema } as const;

  it('uses structured outputs where they are served, with constraints in the description', () => {
    const { body, losses } = encode({ responseFormat });
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: 'minimum: 1' } },
          required: ['n'],
          additionalProperties: false,
        },
      },
    });
    expect(losses).toEqual(['downgraded response_format.json_schema.schema.properties.n.minimum']);
  });

  it.each([
    [{ host: 'vertex' }, {}, { type: 'tool', name: 'json', disable_parallel_tool_use: true }, 'json'],
    [
      { model: 'claude-3-5-haiku-20241022' },
      {},
      { type: 'tool', name: 'json', disable_parallel_tool_use: true },
      'json',
    ],
    [
      { host: 'vertex' },
      { tools: [{ ...tool, name: 'json' }] },
      { type: 'any', disable_parallel_tool_use: true },
      'json_2',
    ],
  ] as const)('forces a tool that stands for the answer elsewhere: %o %o', (target, overrides, choice, name) => {
    const { body, reply, losses } = encode({ responseFormat, ...overrides }, target);
    expect(body.tool_choice).toEqual(choice);
    expect((body.tools as JsonObject[]).at(-1)).toMatchObject({ name, input_schema: schema });
    expect(reply.jsonTool).toBe(name);
    expect(losses).toEqual([]);
  });

  it('asks for JSON in the system prompt when there is no schema', () => {
    const { body, losses } = encode({ responseFormat: { type: 'json_object' } });
    expect(body.system).toMatchObject([{ type: 'text', text: expect.stringContaining('JSON') }]);
    expect(losses).toEqual(['downgraded response_format']);
  });
});

describe('laws of the request', () => {
  const word = fc
    .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    .filter((text) => text.trim() === text && text !== '');
  const cache = fc.option(fc.constantFrom({ type: 'ephemeral' } as const, { type: 'ephemeral', ttl: '1h' } as const), {
    nil: undefined,
  });
  const text = fc.tuple(word, cache).map(([text, cache]): Part => ({ type: 'text', text, ...(cache && { cache }) }));
  const image = fc.constant<Part>({
    type: 'media',
    media: 'image',
    mime: 'image/png',
    source: { kind: 'data', data: 'aGk=' },
  });
  const thinking = fc.tuple(word, word).map(([text, signature]): Part => ({ type: 'thinking', text, signature }));
  const block = fc.constant<Part>({
    type: 'opaque',
    format: 'anthropic-messages',
    value: { type: 'container_upload', file_id: 'f' },
  });
  const args = fc.dictionary(word, fc.jsonValue({ maxDepth: 1 })).map((value) => JSON.stringify(value));
  const exchange = fc.tuple(
    fc.array(fc.oneof(text, image, block), { minLength: 1, maxLength: 3 }),
    fc.array(thinking, { maxLength: 1 }),
    text,
    fc.array(args, { maxLength: 3 }),
    fc.array(text, { maxLength: 1 }),
  );

  const conversations = fc
    .tuple(
      fc.array(exchange, { minLength: 1, maxLength: 3 }),
      fc.array(text, { maxLength: 2 }),
      fc.boolean(),
      fc.nat({ max: 5000 }),
    )
    .map(([exchanges, system, stream, maxTokens]): Conversation => {
      let calls = 0;
      const turns = exchanges.flatMap(([asked, thoughts, said, inputs, more]): Turn[] => {
        const made = inputs.map((input) => call(`toolu_${calls++}`, input));
        const results = made.map((part): Part => ({
          type: 'tool_result',
          callId: part.type === 'tool_call' ? part.id : '',
          content: more,
        }));
        return [
          { role: 'user', parts: asked },
          { role: 'assistant', parts: [...thoughts, said, ...made] },
          ...(results.length > 0 ? [{ role: 'tool', parts: results } as const] : []),
        ];
      });
      return {
        model: MANUAL,
        turns: [...(system.length > 0 ? [{ role: 'system', parts: system } as const] : []), ...turns],
        maxTokens,
        sampling: { temperature: 0.5, stop: ['END'] },
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }],
        toolChoice: { mode: 'auto' },
        parallelToolCalls: false,
        user: 'u1',
        serviceTier: 'auto',
        stream,
        extras: { cache_control: { type: 'ephemeral' }, 'tools[0].defer_loading': true },
        extrasFormat: 'anthropic-messages',
      };
    });

  it('decodes what it encoded to the same conversation, without a loss and without touching its input', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const { body, losses } = encodeWith(
          format,
          deepFreeze(conversation),
          requestTarget({ model: MANUAL }),
          replyContext(),
        );
        expect(losses).toEqual([]);
        expect(format.decodeRequest(body)).toEqual(conversation);
      }),
    );
  });

  it('never crashes on a body of any shape: it reads it or throws a RequestFault', () => {
    const hostile = fc.record(
      {
        messages: fc.jsonValue(),
        system: fc.jsonValue(),
        tools: fc.jsonValue(),
        tool_choice: fc.jsonValue(),
        thinking: fc.jsonValue(),
        output_config: fc.jsonValue(),
        stop_sequences: fc.jsonValue(),
        metadata: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const typed = fc.constantFrom(
      'text',
      'tool_use',
      'tool_result',
      'image',
      'document',
      'thinking',
      'redacted_thinking',
      'x',
    );
    const blocks = fc.array(
      fc
        .tuple(
          typed,
          fc.dictionary(
            fc.constantFrom('text', 'id', 'input', 'source', 'content', 'tool_use_id', 'thinking', 'data'),
            fc.jsonValue(),
          ),
        )
        .map(([type, fields]) => ({ ...fields, type })),
    );
    const messages = fc.array(
      fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'x'), content: blocks }),
    );
    const bodies = fc
      .tuple(hostile, messages, fc.boolean())
      .map(([body, list, use]) => (use ? { ...body, messages: list } : body) as JsonObject);
    fc.assert(
      fc.property(bodies, (body) => {
        try {
          const conversation = format.decodeRequest({ model: 'm', max_tokens: 9, ...body });
          encodeWith(format, conversation, requestTarget({ model: MANUAL }), replyContext());
        } catch (error) {
          expect(error).toBeInstanceOf(RequestFault);
        }
      }),
    );
  });
});
