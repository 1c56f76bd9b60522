/** The texts of the mocks: request bodies, JSON replies and streams in the three formats. */

const WORDS = ['alpha', 'bravo', 'gamma', 'delta "q"', 'naïve', 'omega\n', 'token', 'stream'];
const TOKENS = [' token', ' "quoted"', ' naïve', '\nline', ' plain text here', ' stream', ' alpha', ' beta'];
const EVENTS = 200;
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(16);

function wordsOf(length: number): string {
  let text = '';
  for (let count = 0; text.length < length; count += 1) text += `${WORDS[count % WORDS.length]} `;
  return text.slice(0, length);
}

/** A chat of about this many KB, in up to 40 turns, as a request of one of two APIs. */
export function requestBody(kb: number, stream: boolean, api: 'chat' | 'responses' = 'chat'): string {
  const turns = Math.max(1, Math.min(40, kb));
  const length = Math.floor(Math.floor((kb * 1024 - 200 - turns * 40) / turns) * 0.9);
  const said = Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 1 && turn !== turns - 1 ? 'assistant' : 'user',
    content: wordsOf(length),
  }));
  const all = [{ role: 'system', content: 'You are terse.' }, ...said];
  return JSON.stringify({
    model: 'gemini-2.5-flash',
    ...(api === 'chat' ? { messages: all, max_tokens: 1024 } : { input: all, max_output_tokens: 1024 }),
    temperature: 0.7,
    ...(stream && { stream }),
  });
}

export const JSON_REPLIES = {
  openai: {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1741569952,
    model: 'gpt-4.1-2025-04-14',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: TEXT, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 160,
      total_tokens: 179,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    },
    service_tier: 'default',
  },
  anthropic: {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 19, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 160 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', avgLogprobs: -0.1 }],
    usageMetadata: { promptTokenCount: 19, candidatesTokenCount: 160, totalTokenCount: 179 },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'abc',
  },
} as const;

const tokens = Array.from({ length: EVENTS }, (_, index) => TOKENS[index % TOKENS.length]!);
const data = (event: object, end = '\n\n'): Buffer => Buffer.from(`data: ${JSON.stringify(event)}${end}`);
const named = (event: { readonly type: string }): Buffer =>
  Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
const typed = (type: string, fields: object = {}): Buffer => named({ type, ...fields });

const chunk = (delta: object, finish: string | null = null): Buffer =>
  data({
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion.chunk',
    created: 1741569952,
    model: 'gpt-4.1-2025-04-14',
    service_tier: 'default',
    system_fingerprint: 'fp_44709d6fcb',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });

const started = {
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 25, output_tokens: 1 },
};

/** Events of each stream. */
export const STREAMS: Readonly<Record<keyof typeof JSON_REPLIES, readonly Buffer[]>> = {
  openai: [...tokens.map((content) => chunk({ content })), chunk({}, 'stop'), Buffer.from('data: [DONE]\n\n')],
  anthropic: [
    typed('message_start', { message: started }),
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    typed('ping'),
    ...tokens.map((text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    typed('content_block_stop', { index: 0 }),
    typed('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: EVENTS },
    }),
    typed('message_stop'),
  ],
  gemini: tokens.map((text, index) =>
    data(
      {
        candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }],
        usageMetadata: { promptTokenCount: 25, candidatesTokenCount: index, totalTokenCount: 25 + index },
        modelVersion: 'gemini-2.5-flash',
      },
      '\r\n\r\n',
    ),
  ),
};
