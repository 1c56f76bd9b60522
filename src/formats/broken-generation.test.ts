import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages/index.ts';
import type { JsonObject } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import type { ClientContext, Format } from './format.ts';
import { gemini } from './gemini/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';

const REPLY = { model: 'm', newCallId: () => 'call_1' };
const CLIENT: ClientContext = { id: 'r', created: 1, strict: true, includeUsage: true, model: 'm' };

const sse = (...events: readonly JsonObject[]): string =>
  events
    .map(
      (event) => `${typeof event.type === 'string' ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
    )
    .join('');

/** A reply that has begun with a text, and ends with a word of the vendor. */
interface Ending {
  readonly format: Format;
  readonly plain: unknown;
  readonly stream: string;
}

const chat = (finish_reason: string, more: JsonObject = {}): Ending => {
  const choice = (content: JsonObject) => ({ index: 0, ...content });
  const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
  return {
    format: openaiChat,
    plain: { choices: [choice({ message: { role: 'assistant', content: 'half' }, finish_reason, ...more })], usage },
    stream: `${sse(
      { id: 'c', model: 'm', choices: [choice({ delta: { role: 'assistant', content: 'half' } })] },
      { id: 'c', model: 'm', choices: [choice({ delta: {}, finish_reason, ...more })], usage },
    )}data: [DONE]\n\n`,
  };
};

const claude = (stop_reason: string): Ending => {
  const usage = { input_tokens: 1, output_tokens: 3 };
  return {
    format: anthropicMessages,
    plain: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'half' }], stop_reason, usage },
    stream: sse(
      { type: 'message_start', message: { type: 'message', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'half' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason }, usage },
      { type: 'message_stop' },
    ),
  };
};

const google = (finishReason: string, finishMessage?: string): Ending => {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 };
  const half = { content: { role: 'model', parts: [{ text: 'half' }] } };
  const end = { finishReason, ...(finishMessage !== undefined && { finishMessage }) };
  return {
    format: gemini,
    plain: { candidates: [{ ...half, ...end }], usageMetadata },
    stream: sse({ candidates: [half] }, { candidates: [{ content: { parts: [] }, ...end }], usageMetadata }),
  };
};

const response = (status: string, more: JsonObject = {}, event = status): Ending => {
  const item = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'half' }] };
  const ended = { id: 'r', status, output: [item], ...more };
  return {
    format: openaiResponses,
    plain: ended,
    stream: sse(
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'half' },
      { type: `response.${event}`, response: ended },
    ),
  };
};

const REPORTS: readonly (readonly [string, Ending, object?])[] = [
  ['OpenRouter, Mistral, vLLM: error', chat('error')],
  ['GLM: network_error', chat('network_error')],
  ['DeepSeek: insufficient_system_resource', chat('insufficient_system_resource')],
  ['vLLM, SGLang: abort', chat('abort')],
  ['Google’s OpenAI endpoint', chat('function_call_filter: MALFORMED_FUNCTION_CALL')],
  ['OpenRouter: an error in the choice', chat('error', { error: { code: 502, message: 'died' } }), { message: 'died' }],
  [
    'OpenRouter: an error in the choice alone',
    chat('stop', { error: { code: 429, message: 'slow' } }),
    { status: 429 },
  ],
  ['a compatible server of Messages: error', claude('error')],
  ['GLM’s Messages: network_error', claude('network_error')],
  ['DeepSeek’s Messages: insufficient_system_resource', claude('insufficient_system_resource')],
  ['a compatible server of Messages: abort', claude('abort')],
  [
    'Gemini: MALFORMED_FUNCTION_CALL',
    google('MALFORMED_FUNCTION_CALL', 'Malformed function call: f('),
    { message: 'Malformed function call: f(' },
  ],
  ['Gemini: MALFORMED_RESPONSE', google('MALFORMED_RESPONSE')],
  [
    'Responses: failed',
    response('failed', { error: { code: 'server_error', message: 'died' } }),
    { status: 500, message: 'died' },
  ],
  ['Responses: failed without a word', response('failed')],
  ['Responses: cancelled', response('cancelled')],
  ['Responses: incomplete by an error', response('incomplete', { incomplete_details: { reason: 'error' } })],
  [
    'Responses: completed with an error',
    response('completed', { error: { code: 'server_error', message: 'died' } }),
    { status: 500 },
  ],
];

const BROKEN = REPORTS.map(([name, ending, failure = {}]) => [name, ending, { status: 502, ...failure }] as const);

const WHOLE: readonly (readonly [string, Ending, string])[] = [
  ['chat: stop', chat('stop'), 'stop'],
  ['chat: an unknown word', chat('eos_token'), 'stop'],
  ['chat: an error of null', chat('stop', { error: null }), 'stop'],
  ['GLM: sensitive', chat('sensitive'), 'content_filter'],
  ['GLM: model_context_window_exceeded', chat('model_context_window_exceeded'), 'length'],
  ['Mistral: model_length', chat('model_length'), 'length'],
  ['Messages: end_turn', claude('end_turn'), 'stop'],
  ['Messages: an unknown word', claude('eos_token'), 'stop'],
  ['GLM’s Messages: sensitive', claude('sensitive'), 'content_filter'],
  ['Gemini: STOP', google('STOP'), 'stop'],
  ['Gemini: OTHER', google('OTHER'), 'stop'],
  ['Gemini: an unknown word', google('NEW_REASON'), 'stop'],
  ['Gemini: UNEXPECTED_TOOL_CALL, with the call', google('UNEXPECTED_TOOL_CALL'), 'stop'],
  ['Responses: completed', response('completed', { error: null }), 'stop'],
  ['Responses: incomplete', response('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }), 'length'],
];

const decodedStream = ({ format, stream }: Ending): readonly GenerationEvent[] => {
  const decoder = format.decodeStream(REPLY);
  return [...decoder.push(Buffer.from(stream)), ...decoder.end()];
};

function passed({ format }: Ending, bytes: string, stream: boolean) {
  const reader = format.passThrough!.open(CLIENT, stream);
  const out = [reader.push(Buffer.from(bytes)), reader.end()].map((piece) => piece?.toString() ?? '').join('');
  return { out, signals: reader.signals };
}

describe('a generation that its vendor reports as broken', () => {
  it.each(BROKEN)(
    'is a failure when translated, plain and streamed, and its usage counts: %s',
    (_, ending, failure) => {
      for (const events of [ending.format.decodeReply(ending.plain, REPLY), decodedStream(ending)]) {
        expect(events.at(-1)).toMatchObject({ type: 'error', failure: failure });
        expect(events.filter(({ type }) => type === 'finish' || type === 'end')).toEqual([]);
        if (ending.format !== openaiResponses) expect(events.filter(({ type }) => type === 'usage')).not.toEqual([]);
      }
    },
  );

  it.each(BROKEN)('is a failure when passed through: %s', (_, ending, failure) => {
    const plain = passed(ending, JSON.stringify(ending.plain), false);
    expect(plain).toMatchObject({ out: '', signals: { ended: false, failure: failure } });
    const { out, signals } = passed(ending, ending.stream, true);
    expect(signals).toMatchObject({ ended: false, failure: failure });
    // The events before it were sent, but not the end of the answer.
    expect(out).toContain('half');
    expect(out).not.toMatch(/\[DONE\]|message_stop|"finishReason"|response\.completed|"finish_reason":"/);
  });

  it.each([
    ['vLLM, SGLang', { object: 'error', message: 'busy', type: 'ServiceUnavailable', code: 503 }],
    ['with an error object', { error: { message: 'busy', code: 503 } }],
  ])('in place of a chunk is a failure, first and behind content: %s', (_, error) => {
    const [head = ''] = chat('stop').stream.split(/(?<=\n\n)/);
    for (const before of ['', head, head.repeat(5)]) {
      const stream = `${before}data: ${JSON.stringify(error)}\n\ndata: [DONE]\n\n`;
      const ending = { ...chat('stop'), stream };
      expect(decodedStream(ending).at(-1)).toMatchObject({ failure: { status: 503, message: 'busy' } });
      const { out, signals } = passed(ending, stream, true);
      expect(signals.failure).toMatchObject({ status: 503, message: 'busy' });
      expect(out).toBe(before);
    }
  });
});

describe('a generation that ended', () => {
  it.each(WHOLE)('is none, whatever its word: %s', (_, ending, finish) => {
    for (const events of [ending.format.decodeReply(ending.plain, REPLY), decodedStream(ending)])
      expect(events.find(({ type }) => type === 'finish')).toMatchObject({ reason: finish });
    for (const stream of [true, false]) {
      const { signals } = passed(ending, stream ? ending.stream : JSON.stringify(ending.plain), stream);
      expect(signals).toMatchObject({ ended: true, failure: undefined, finish, output: true });
    }
  });
});
