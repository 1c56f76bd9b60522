import type { SeenRequest } from '../support/upstream.ts';

export type Api = 'chat' | 'messages' | 'responses' | 'gemini';
export const APIS: readonly Api[] = ['chat', 'messages', 'responses', 'gemini'];

/** `half`: breaks after a text. `call`: within the arguments of a call. `none`: before anything. `empty`: ends well, without an answer. */
export type Kind = 'half' | 'call' | 'none' | 'empty' | 'thought' | 'late' | 'good';

const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
const counts = { input_tokens: 1, output_tokens: 3 };

/** What an upstream sends as events: its parts, in order, and its end. */
export interface Parts {
  readonly thought?: string;
  readonly text?: string;
  readonly call?: string;
  readonly broken: boolean;
}

export const PARTS: Readonly<Record<Kind, Parts>> = {
  half: { text: 'half', broken: true },
  call: { text: 'half', call: '{"city":', broken: true },
  none: { broken: true },
  empty: { broken: false },
  thought: { thought: 'hm', broken: false },
  late: { thought: 'hm', text: 'rescued', broken: false },
  good: { text: 'rescued', broken: false },
};

const lines = (events: readonly object[]): string =>
  events
    .map((event) => `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');

export const STREAMS: Readonly<Record<Api, (parts: Parts) => string>> = {
  chat({ thought, text, call, broken }) {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    });
    const tool = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: call } };
    // As OpenRouter writes them: a thought and a text differ in nothing but their free texts.
    const events = [
      chunk({ role: 'assistant', content: '', reasoning_content: '' }),
      ...(thought === undefined ? [] : [1, 2, 3].map(() => chunk({ content: '', reasoning_content: thought }))),
      ...(text === undefined ? [] : [chunk({ content: text, reasoning_content: '' })]),
      ...(call === undefined ? [] : [chunk({ tool_calls: [tool] })]),
      { ...chunk({}, broken ? 'error' : 'stop'), usage },
    ];
    return `${lines(events)}data: [DONE]\n\n`;
  },
  messages({ thought, text, call, broken }) {
    const block = (index: number, content_block: object, delta: object) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ];
    const blocks = [
      ...(thought === undefined
        ? []
        : [
            [
              { type: 'thinking', thinking: '' },
              { type: 'thinking_delta', thinking: thought },
            ] as const,
          ]),
      ...(text === undefined
        ? []
        : [
            [
              { type: 'text', text: '' },
              { type: 'text_delta', text },
            ] as const,
          ]),
      ...(call === undefined
        ? []
        : [
            [
              { type: 'tool_use', id: 't', name: 'weather', input: {} },
              { type: 'input_json_delta', partial_json: call },
            ] as const,
          ]),
    ];
    return lines([
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: counts },
      },
      ...blocks.flatMap(([start, delta], index) => block(index, start, delta)),
      { type: 'message_delta', delta: { stop_reason: broken ? 'network_error' : 'end_turn' }, usage: counts },
      { type: 'message_stop' },
    ]);
  },
  responses({ thought, text, call, broken }) {
    const items = [
      ...(thought === undefined
        ? []
        : [{ type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: thought }] }]),
      ...(text === undefined
        ? []
        : [{ type: 'message', id: 'msg', role: 'assistant', content: [{ type: 'output_text', text }] }]),
      ...(call === undefined
        ? []
        : [{ type: 'function_call', id: 'fc', call_id: 'call_1', name: 'weather', arguments: call }]),
    ];
    const status = broken ? 'failed' : 'completed';
    const error = broken ? { code: 'server_error', message: 'the model died' } : null;
    return lines([
      { type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress', output: [] } },
      ...items.flatMap((item, output_index) => [
        {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, content: [], summary: [], arguments: '' },
        },
        ...(thought === undefined || item.type !== 'reasoning'
          ? []
          : [{ type: 'response.reasoning_summary_text.delta', output_index, summary_index: 0, delta: thought }]),
        ...(item.type === 'message'
          ? [{ type: 'response.output_text.delta', output_index, content_index: 0, delta: text }]
          : []),
        ...(item.type === 'function_call'
          ? [{ type: 'response.function_call_arguments.delta', output_index, delta: call }]
          : []),
        ...(broken ? [] : [{ type: 'response.output_item.done', output_index, item }]),
      ]),
      {
        type: `response.${status}`,
        response: { id: 'r', model: 'm', status, error, output: broken ? [] : items, usage: counts },
      },
    ]);
  },
  gemini({ thought, text, call, broken }) {
    const part = (one: object) => ({ candidates: [{ content: { role: 'model', parts: [one] } }], modelVersion: 'm' });
    const finishReason = broken ? 'MALFORMED_FUNCTION_CALL' : 'STOP';
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 };
    return lines([
      ...(thought === undefined ? [] : [part({ text: thought, thought: true })]),
      ...(text === undefined ? [] : [part({ text })]),
      ...(call === undefined ? [] : [part({ functionCall: { name: 'weather', args: {} } })]),
      { candidates: [{ content: { role: 'model', parts: [] }, finishReason }], usageMetadata, modelVersion: 'm' },
    ]);
  },
};

export const PLAIN: Readonly<Record<Api, (parts: Parts) => object>> = {
  chat: ({ thought, text = '', call, broken }) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          ...(thought !== undefined && { reasoning_content: thought }),
          ...(call !== undefined && {
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: call } }],
          }),
        },
        finish_reason: broken ? 'error' : 'stop',
        ...(broken && { error: { code: 502, message: 'the model died' } }),
      },
    ],
    usage,
  }),
  messages: ({ thought, text, call, broken }) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 's' }]),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(call === undefined ? [] : [{ type: 'tool_use', id: 't', name: 'weather', input: {} }]),
    ],
    stop_reason: broken ? 'network_error' : 'end_turn',
    stop_sequence: null,
    usage: counts,
  }),
  responses: ({ thought, text, call, broken }) => ({
    id: 'r',
    object: 'response',
    model: 'm',
    status: broken ? 'failed' : 'completed',
    error: broken ? { code: 'server_error', message: 'the model died' } : null,
    output: [
      ...(thought === undefined
        ? []
        : [{ type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: thought }] }]),
      ...(text === undefined
        ? []
        : [{ type: 'message', id: 'msg', role: 'assistant', content: [{ type: 'output_text', text }] }]),
      ...(call === undefined
        ? []
        : [{ type: 'function_call', id: 'fc', call_id: 'c', name: 'weather', arguments: call }]),
    ],
    usage: counts,
  }),
  gemini: ({ thought, text, call, broken }) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
            ...(text === undefined ? [] : [{ text }]),
            ...(call === undefined ? [] : [{ functionCall: { name: 'weather', args: {} } }]),
          ],
        },
        finishReason: broken ? 'MALFORMED_FUNCTION_CALL' : 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 },
    modelVersion: 'm',
  }),
};

export const apiOf = ({ url }: SeenRequest): Api => {
  if (url.includes('/chat/completions')) return 'chat';
  if (url.includes('/messages')) return 'messages';
  return url.includes('/responses') ? 'responses' : 'gemini';
};

const ask = [{ role: 'user', content: 'hi' }];
export const DOORS: Readonly<Record<Api, (stream: boolean, salt: string) => readonly [string, object]>> = {
  chat: (stream, user) => ['/v1/chat/completions', { model: 'm', messages: ask, stream, user }],
  messages: (stream, user_id) => [
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: ask, stream, metadata: { user_id } },
  ],
  responses: (stream, user) => ['/v1/responses', { model: 'm', input: 'hi', stream, store: false, user }],
  gemini: (stream, salt) => [
    stream ? '/v1beta/models/m:streamGenerateContent?alt=sse' : '/v1beta/models/m:generateContent',
    { contents: [{ role: 'user', parts: [{ text: `hi ${salt}` }] }] },
  ],
};

/** Where the end of a broken stream begins. */
export const END = /(?=data: [^\n]*(?:"finish_reason":"error"|MALFORMED)|event: message_delta|event: response\.failed)/;
