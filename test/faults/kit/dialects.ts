import { responseObject } from '../../support/response-object.ts';

/** What an upstream says, in the words of four APIs: the same answer, the same refusals, the same pieces of a stream. */
export const DIALECT_NAMES = ['openai', 'responses', 'anthropic', 'gemini'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

export interface Answer {
  readonly words: readonly string[];
  readonly usage: TokenUsage;
}

/** A whole stream as it stands on the wire, event by event. */
export interface StreamParts {
  /** What comes before the first content. */
  readonly head: readonly string[];
  readonly words: readonly string[];
  /** Why it ends, and the usage. */
  readonly finish: readonly string[];
  /** What says that nothing follows. */
  readonly mark: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** OpenAI's code; the other vendors have none. */
  readonly code?: string;
}

export interface Dialect {
  readonly name: DialectName;
  readonly model: string;
  plain(answer: Answer): object;
  stream(answer: Answer): StreamParts;
  refusal(refusal: Refusal): object;
  /** An overload, told where an answer was promised: in the body of a 200, or as an event. */
  failure(refusal: Refusal): object;
  errorEvent(refusal: Refusal): string;
  /** A sign of life that is no content. */
  readonly ping: string;
  /** An event of this API, but for its JSON. */
  readonly malformed: string;
  readonly tooLong: Refusal;
  /** An answer that is nothing but a filter's stop. */
  readonly blocked: { readonly plain: object; readonly stream: readonly string[] };
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, more: object = {}): string => `event: ${type}\n${data({ type, ...more })}`;

const chunk = (model: string, delta: object, finish: string | null = null): string =>
  data({
    id: 'chatcmpl-up',
    object: 'chat.completion.chunk',
    created: 1_795_132_800,
    model,
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
  });

const openaiUsage = ({ input, output }: TokenUsage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

const OPENAI_TYPES: Readonly<Record<number, string>> = { 400: 'invalid_request_error', 429: 'requests' };
const GPT = 'gpt-4o-2024-08-06';

const usageChunk = (usage: TokenUsage): string =>
  data({ id: 'chatcmpl-up', object: 'chat.completion.chunk', model: GPT, choices: [], usage: openaiUsage(usage) });

const completion = (content: string | null, finish: string, usage: TokenUsage) => ({
  id: 'chatcmpl-up',
  object: 'chat.completion',
  created: 1_795_132_800,
  model: GPT,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish, logprobs: null }],
  usage: openaiUsage(usage),
});

/** Without a status of its own, so its words have to tell. */
const openaiFailure = ({ message }: Refusal) => ({
  error: { message, type: 'overloaded_error', param: null, code: null },
});

const openai: Dialect = {
  name: 'openai',
  model: GPT,
  plain: ({ words, usage }) => completion(words.join(''), 'stop', usage),
  stream: ({ words, usage }) => ({
    head: [chunk(GPT, { role: 'assistant', content: '' })],
    words: words.map((content) => chunk(GPT, { content })),
    finish: [chunk(GPT, {}, 'stop'), usageChunk(usage)],
    mark: ['data: [DONE]\n\n'],
  }),
  refusal: ({ status, message, code }) => ({
    error: { message, type: OPENAI_TYPES[status] ?? 'server_error', param: null, code: code ?? null },
  }),
  failure: openaiFailure,
  errorEvent: (refusal) => data(openaiFailure(refusal)),
  ping: ': ping\n\n',
  malformed: 'data: {"id":"chatcmpl-up","choices":[{"delta":\n\n',
  tooLong: {
    status: 400,
    code: 'context_length_exceeded',
    message: 'This model’s maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens.',
  },
  blocked: {
    plain: completion(null, 'content_filter', { input: 11, output: 0 }),
    stream: [
      chunk(GPT, { role: 'assistant', content: '' }),
      chunk(GPT, {}, 'content_filter'),
      usageChunk({ input: 11, output: 0 }),
      'data: [DONE]\n\n',
    ],
  },
};

const responseOf = (status: string, output: readonly object[], usage: TokenUsage | undefined, more: object = {}) => ({
  ...responseObject({ model: GPT, status, output, usage }),
  ...more,
});
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const outputMessage = (status: string, content: readonly object[]) => ({
  id: 'msg_up',
  type: 'message',
  status,
  role: 'assistant',
  content,
});
const AT = { item_id: 'msg_up', output_index: 0, content_index: 0 };
const begun = named('response.created', { response: responseOf('in_progress', [], undefined) });
const filtered = responseOf(
  'incomplete',
  [],
  { input: 11, output: 0 },
  { incomplete_details: { reason: 'content_filter' } },
);
const overloadedResponse = ({ message }: Refusal) =>
  responseOf('failed', [], undefined, { error: { code: 'server_is_overloaded', message } });

/** docs/protocols/openai-responses.md */
const responses: Dialect = {
  ...openai,
  name: 'responses',
  plain: ({ words, usage }) =>
    responseOf('completed', [outputMessage('completed', [outputText(words.join(''))])], usage),
  stream: ({ words, usage }) => {
    const text = words.join('');
    const whole = outputMessage('completed', [outputText(text)]);
    return {
      head: [
        begun,
        named('response.output_item.added', { output_index: 0, item: outputMessage('in_progress', []) }),
        named('response.content_part.added', { ...AT, part: outputText('') }),
      ],
      words: words.map((delta) => named('response.output_text.delta', { ...AT, delta, logprobs: [] })),
      finish: [
        named('response.output_text.done', { ...AT, text, logprobs: [] }),
        named('response.content_part.done', { ...AT, part: outputText(text) }),
        named('response.output_item.done', { output_index: 0, item: whole }),
        named('response.completed', { response: responseOf('completed', [whole], usage) }),
      ],
      mark: [],
    };
  },
  failure: overloadedResponse,
  errorEvent: (refusal) => named('response.failed', { response: overloadedResponse(refusal) }),
  malformed: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":\n\n',
  blocked: { plain: filtered, stream: [begun, named('response.incomplete', { response: filtered })] },
};

const CLAUDE = 'claude-haiku-4-5';
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

const message = (text: string | undefined, stop: string | null, { input, output }: TokenUsage) => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: CLAUDE,
  content: text === undefined ? [] : [{ type: 'text', text }],
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: input, output_tokens: output },
});

const messageStart = ({ input }: TokenUsage): string =>
  named('message_start', { message: message(undefined, null, { input, output: 1 }) });
const messageDelta = (stop: string, { output }: TokenUsage): string =>
  named('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } });
const anthropicError = ({ status, message: text }: Refusal) => ({
  type: 'error',
  error: { type: ANTHROPIC_TYPES[status] ?? 'api_error', message: text },
});

const anthropic: Dialect = {
  name: 'anthropic',
  model: CLAUDE,
  plain: ({ words, usage }) => message(words.join(''), 'end_turn', usage),
  stream: ({ words, usage }) => ({
    head: [messageStart(usage), named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })],
    words: words.map((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    finish: [named('content_block_stop', { index: 0 }), messageDelta('end_turn', usage)],
    mark: [named('message_stop')],
  }),
  refusal: anthropicError,
  failure: anthropicError,
  errorEvent: (refusal) => named('error', anthropicError(refusal)),
  ping: named('ping'),
  malformed: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":\n\n',
  tooLong: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  blocked: {
    plain: message(undefined, 'refusal', { input: 11, output: 1 }),
    stream: [
      messageStart({ input: 11, output: 1 }),
      messageDelta('refusal', { input: 11, output: 1 }),
      named('message_stop'),
    ],
  },
};

const GEMINI = 'gemini-2.5-flash';
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const candidate = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
  modelVersion: GEMINI,
  responseId: 'resp_up',
});
const geminiUsage = ({ input, output }: TokenUsage) => ({
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
});
const googleError = ({ status, message: text }: Refusal) => ({
  error: { code: status, message: text, status: GOOGLE_STATUSES[status] ?? 'UNAVAILABLE' },
});
const refusedPrompt = {
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
  usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 },
  modelVersion: GEMINI,
};

const gemini: Dialect = {
  name: 'gemini',
  model: GEMINI,
  plain: ({ words, usage }) => ({ ...candidate(words.join(''), { finishReason: 'STOP' }), ...geminiUsage(usage) }),
  stream: ({ words, usage }) => ({
    head: [],
    words: words.map((text) => data(candidate(text))),
    finish: [data({ ...candidate('', { finishReason: 'STOP' }), ...geminiUsage(usage) })],
    mark: [],
  }),
  refusal: googleError,
  failure: googleError,
  errorEvent: (refusal) => data(googleError(refusal)),
  ping: ': ping\n\n',
  malformed: 'data: {"candidates":[{"content":{"parts":[{"text":\n\n',
  tooLong: {
    status: 400,
    message: 'The input token count (1210000) exceeds the maximum number of tokens allowed (1048576).',
  },
  blocked: { plain: refusedPrompt, stream: [data(refusedPrompt)] },
};

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { openai, responses, anthropic, gemini };

/** The API a request was sent to. */
export function dialectOf(url: string): Dialect {
  if (url.includes('/chat/completions')) return openai;
  if (url.endsWith('/responses')) return responses;
  return url.includes('/publishers/google/') ? gemini : anthropic;
}
