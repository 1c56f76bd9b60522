import { geminiArray } from '../../formats/gemini/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../../core/kernel/operation.ts';
import { UpstreamError } from '../errors.ts';
import type { ReplyWithForm, Sink, Source } from '../reply.ts';
import type { ExchangeParts } from './exchange.ts';
import { createReply } from './reply.ts';

/** A request and what the rest of the chain answers. */
export interface Scenario {
  /** Of the reply: `a stream`. */
  readonly name: string;
  readonly request: ExchangeParts;
  /** Throws the failure of an upstream. */
  reply(): ReplyWithForm;
}

const PATHS = { 'chat.completions': '/v1/chat/completions', generateContent: '/v1beta/models/m:generateContent' };

const operation = (id: keyof typeof PATHS, format: Operation['format']): Operation => ({
  id,
  method: 'POST',
  path: PATHS[id],
  task: 'generate',
  semconvName: 'chat',
  format,
  validate: () => undefined,
});
const CHAT = operation('chat.completions', openaiChat);
const ARRAY = operation('generateContent', geminiArray);

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
  let sink: Sink | undefined;
  return {
    open(to) {
      sink = to;
      for (const text of texts) sink?.push(Buffer.from(text));
      sink?.end();
    },
    pause() {},
    resume() {},
    cancel: () => void (sink = undefined),
  };
}

/** Of its own for each reply: a plugin may change the headers. */
const sse = () => ({ stream: true, headers: { 'content-type': 'text/event-stream' } });
const halves = [completion.slice(0, 40), completion.slice(40)];

export const SCENARIOS: readonly Scenario[] = [
  { name: 'a plain reply', request: chat(false), reply: () => createReply(completion) },
  {
    name: 'a plain reply in pieces',
    request: chat(false),
    reply: () => createReply(pieces(halves), { stream: false, headers: { 'content-type': 'application/json' } }),
  },
  { name: 'a stream', request: chat(true), reply: () => createReply(pieces(events)) },
  { name: 'a stream from the cache', request: chat(true), reply: () => createReply(events.join(''), sse()) },
  {
    name: 'a JSON array',
    request: contents,
    reply: () =>
      createReply(pieces([...items, ']']), {
        stream: true,
        form: 'json-array',
        headers: { 'content-type': 'application/json' },
      }),
  },
  {
    name: 'sound',
    request: chat(false),
    reply: () =>
      createReply(pieces([Buffer.from([255, 251, 0, 128])]), {
        stream: false,
        headers: { 'content-type': 'audio/mpeg' },
      }),
  },
  {
    name: 'the failure of an upstream',
    request: chat(false),
    reply() {
      throw new UpstreamError('overloaded', 'The upstream is busy.');
    },
  },
];
