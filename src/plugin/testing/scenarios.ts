import { geminiArray } from '../../formats/gemini/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../../core/kernel/operation.ts';
import { UpstreamError } from '../errors.ts';
import type { ReplyForm, ReplyWithForm, Sink, Source } from '../reply.ts';
import type { ExchangeParts } from './exchange.ts';
import { createReply, createSource } from './reply.ts';

/** A request and what the rest of the chain answers. */
export interface Scenario {
  /** Of the reply: `a stream`. */
  readonly name: string;
  readonly request: ExchangeParts;
  /** Throws the failure of an upstream. */
  reply(): ReplyWithForm;
}

const GENERATE = { method: 'POST', task: 'generate', semconvName: 'chat', validate: () => undefined } as const;
const CHAT: Operation = { ...GENERATE, id: 'chat.completions', path: '/v1/chat/completions', format: openaiChat };
const ARRAY: Operation = { ...CHAT, id: 'generateContent', path: '/v1/models/m:generateContent', format: geminiArray };

/** Long enough that 30 requests show in the memory of the process, and different texts in every role. */
const LONG = 'A text of a request. '.repeat(2000);
const messages = [
  { role: 'system', content: 'Answer briefly.' },
  { role: 'user', content: `Write to ada@example.com. ${LONG}` },
];
const chat = (stream: boolean): ExchangeParts => ({ operation: CHAT, json: { model: 'm', messages, stream } });
const contents: ExchangeParts = {
  operation: ARRAY,
  json: { contents: messages.slice(1).map(({ role, content }) => ({ role, parts: [{ text: content }] })) },
};

const PIECES = ['Ask ad', 'a@exam', 'ple.com, not +41 44 668 18 00', '.'];
const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: PIECES.join('') }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
});
const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const events = [
  chunk({ role: 'assistant', content: '' }, null),
  ...PIECES.map((content) => chunk({ content }, null)),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];
const items = PIECES.map(
  (text, index) =>
    `${index === 0 ? '[' : ','}${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(index === 3 && { finishReason: 'STOP' }) }] })}`,
);

/** Sends its pieces as soon as it is opened. */
function pieces(texts: readonly (string | Buffer)[]): Source {
  const source = createSource();
  const open = (sink: Sink): void => {
    source.open(sink);
    for (const text of texts) source.push(text);
    source.end();
  };
  return { ...source, open };
}

const TYPES: Readonly<Record<ReplyForm, string>> = {
  json: 'application/json',
  'json-array': 'application/json',
  sse: 'text/event-stream',
  bytes: 'audio/mpeg',
};

type Body = string | readonly (string | Buffer)[];

/** A reply of its own for each run: a plugin may change it. Pieces are those of a source. */
const scenario = (name: string, request: ExchangeParts, form: ReplyForm, body: Body): Scenario => ({
  name,
  request,
  reply() {
    const parts = { stream: form === 'sse' || form === 'json-array', form, headers: { 'content-type': TYPES[form] } };
    return createReply(typeof body === 'string' ? body : pieces(body), parts);
  },
});

export const PLAIN = scenario('a plain reply', chat(false), 'json', completion);
export const FAILURE: Scenario = {
  name: 'the failure of an upstream',
  request: chat(false),
  reply() {
    throw new UpstreamError('overloaded', 'The upstream is busy.');
  },
};

export const SCENARIOS: readonly Scenario[] = [
  PLAIN,
  scenario('a plain reply in pieces', chat(false), 'json', [completion.slice(0, 40), completion.slice(40)]),
  scenario('a stream', chat(true), 'sse', events),
  scenario('a stream from the cache', chat(true), 'sse', events.join('')),
  scenario('a JSON array', contents, 'json-array', [...items, ']']),
  scenario('sound', chat(false), 'bytes', [Buffer.from([255, 251, 0, 128])]),
  FAILURE,
];
