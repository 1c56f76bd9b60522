import { anthropicMessages } from '../anthropic-messages/index.ts';
import type { Format, PassThrough } from '../format.ts';
import { gemini } from '../gemini/index.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { translatingReader } from '../streams/readers.ts';

/** Records of one wire as an upstream writes them. */
export interface Dialect {
  readonly format: Format;
  /** Records before any content. */
  readonly opening: readonly string[];
  readonly text: (text: string) => string;
  /** End of a stream that has shown text. */
  readonly closing: readonly string[];
  /** Keep-alives without content. */
  readonly pings: readonly string[];
  /** Records that count as progress and show nothing. */
  readonly silentSteps: readonly string[];
  readonly error: string;
  /** Events that are not JSON: half of one, a word in braces, no braces. */
  readonly malformed: readonly string[];
  /** A whole stream with nothing but a filter's stop, and its plain reply. */
  readonly blocked: readonly { readonly stream: string; readonly plain: object }[];
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`;

const chunk = (delta: object, finish: string | null = null): string =>
  data({ id: 'c', model: 'model-ran', choices: [{ index: 0, delta, finish_reason: finish }] });
const DONE = 'data: [DONE]\n\n';
const completion = (message: object, more: object = {}): object => ({
  id: 'c',
  model: 'model-ran',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'content_filter', ...more }],
});
const found = { content_filter_results: { hate: { filtered: true, severity: 'high' } } };

const openai: Dialect = {
  format: openaiChat,
  opening: [chunk({ role: 'assistant', content: '' })],
  text: (text) => chunk({ content: text }),
  closing: [chunk({}, 'stop'), DONE],
  pings: [
    ': ping\n\n',
    ': OPENROUTER PROCESSING\r\n\r\n',
    'data: \n\n',
    data({ id: 'c', model: 'model-ran', choices: [], usage: null }),
    'data: {"id":"c", "model":"model-ran", "choices" : [ ]}\n\n',
    'event: ping\ndata: {"type":"ping"}\n\n',
  ],
  silentSteps: [chunk({ content: '' }), chunk({ audio: { data: 'AAAA' } })],
  error: data({ error: { message: 'busy', type: 'server_error', code: null } }),
  malformed: [
    'data: {"choices":[{"index":0,\n\n',
    'data: {not json}\n\n',
    'data: oh no\n\n',
    'data: {"choices": oh}\n\n',
  ],
  blocked: [
    { stream: chunk({ role: 'assistant' }) + chunk({}, 'content_filter') + DONE, plain: completion({ content: null }) },
    {
      stream: data({
        id: 'c',
        model: 'model-ran',
        choices: [{ index: 0, delta: {}, finish_reason: 'content_filter', ...found }],
      }),
      plain: completion({ content: '' }, found),
    },
  ],
};

const message = (more: object): object => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'model-ran',
  content: [],
  stop_reason: null,
  usage: { input_tokens: 3, output_tokens: 1 },
  ...more,
});
const messageStart = named({ type: 'message_start', message: message({}) } as { type: string });
const blockDelta = (delta: object): string =>
  named({ type: 'content_block_delta', index: 0, delta } as { type: string });
const blockStart = (block: object): string =>
  named({ type: 'content_block_start', index: 0, content_block: block } as { type: string });
const messageEnd = (delta: object): string =>
  named({ type: 'message_delta', delta, usage: { output_tokens: 3 } } as { type: string }) +
  named({ type: 'message_stop' });
const explained = { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } };

const anthropic: Dialect = {
  format: anthropicMessages,
  opening: [messageStart, blockStart({ type: 'text', text: '' })],
  text: (text) => blockDelta({ type: 'text_delta', text }),
  closing: [
    named({ type: 'content_block_stop', index: 0 } as { type: string }),
    messageEnd({ stop_reason: 'end_turn' }),
  ],
  pings: [': ping\n\n', named({ type: 'ping' }), 'event: vertex_event\ndata: {"type":"vertex_event"}\n\n'],
  // Claude with `thinking.display: omitted` sends such deltas; a server tool's input is emitted once it is complete.
  silentSteps: [
    blockDelta({ type: 'thinking_delta', thinking: '' }),
    blockDelta({ type: 'signature_delta', signature: 'abc' }),
    blockDelta({ type: 'input_json_delta', partial_json: '' }),
  ],
  error: named({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } } as { type: string }),
  malformed: ['{"type":"content_block_delta",', '{not json}', 'oh no', '{"type": oh}'].map(
    (text) => `event: content_block_delta\ndata: ${text}\n\n`,
  ),
  blocked: [
    { stream: messageStart + messageEnd({ stop_reason: 'refusal' }), plain: message({ stop_reason: 'refusal' }) },
    { stream: messageStart + messageEnd(explained), plain: message(explained) },
    {
      stream: messageStart + blockStart({ type: 'text', text: '' }) + messageEnd({ stop_reason: 'refusal' }),
      plain: message({ stop_reason: 'refusal', content: [{ type: 'text', text: '' }] }),
    },
  ],
};

const candidate = (parts: readonly object[] | undefined, more: object = {}): object => ({
  candidates: [{ index: 0, ...(parts && { content: { role: 'model', parts } }), ...more }],
  modelVersion: 'model-ran',
});
const ratings = [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true }];
const refused = [
  { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, modelVersion: 'model-ran' },
  { promptFeedback: { blockReason: 'SAFETY', safetyRatings: ratings }, usageMetadata: { promptTokenCount: 3 } },
  candidate(undefined, { finishReason: 'SAFETY', safetyRatings: ratings }),
  candidate([], { finishReason: 'RECITATION', finishMessage: 'Recited.' }),
];

const geminiWire: Dialect = {
  format: gemini,
  opening: [],
  text: (text) => data(candidate([{ text }])),
  closing: [data({ ...candidate([{ text: '' }], { finishReason: 'STOP' }), usageMetadata: { totalTokenCount: 5 } })],
  pings: [': ping\r\n\r\n', 'data: \r\n\r\n'],
  silentSteps: [data(candidate([{ text: '' }]))],
  error: data({ error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }),
  malformed: ['data: {"candidates":[\r\n\r\n', 'data: {not json}\r\n\r\n', 'data: oh no\r\n\r\n'],
  blocked: refused.map((reply) => ({ stream: data(reply), plain: reply })),
};

export const DIALECTS: readonly (readonly [string, Dialect])[] = [
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Gemini', geminiWire],
];

const CLIENTS: readonly (readonly [string, Format])[] = [
  ['OpenAI', openaiChat],
  ['Anthropic', anthropicMessages],
];

export type OpenReader = (stream: boolean) => PassThrough;

/** Every reader a reply can have: translated for each client, or passed through to one of its own. */
export const READERS: readonly (readonly [string, Dialect, OpenReader])[] = DIALECTS.flatMap(([name, dialect]) => {
  const upstream = dialect.format;
  const translated = CLIENTS.filter(([, client]) => client !== upstream).map(([to, client]) => {
    const translation = { upstream, client, reply: replyContext(), context: clientContext() };
    const open: OpenReader = (stream) =>
      translatingReader(translation, stream, stream ? 'text/event-stream' : 'application/json');
    return [`${name} to ${to}`, dialect, open] as const;
  });
  const passed: OpenReader = (stream) => upstream.passThrough!.open(clientContext(), stream);
  return [[`${name} as it came`, dialect, passed] as const, ...translated];
});
