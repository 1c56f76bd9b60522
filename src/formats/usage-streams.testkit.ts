import type { FormatName } from './conversation.ts';
import type { GenerationEvent, Usage } from './events.ts';
import { formats } from './index.ts';
import { isObject } from './json/object.ts';
import { clientContext, replyContext } from './contexts.testkit.ts';
import { decodeAll } from './laws.testkit.ts';
import { fold } from './streams/fold.ts';

export const usageOf = (events: readonly GenerationEvent[]): Usage | undefined => fold(events).usage;

/** The stream is complete and readable. */
export const isWhole = (name: FormatName, text: string): boolean =>
  decodeAll(formats[name].decodeStream(replyContext()), [Buffer.from(text)]).every(({ type }) => type !== 'error');

const event = (data: object, type?: string): string =>
  `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(type === undefined ? data : { type, ...data })}\n\n`;

/** The fields of all four APIs that a stream has elsewhere. */
interface PlainReply {
  readonly choices: readonly Readonly<Record<string, unknown>>[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly usageMetadata?: Readonly<Record<string, unknown>>;
  readonly content: unknown;
  readonly stop_reason: unknown;
  readonly output: readonly unknown[];
}

/** The stream in which the provider would have sent a plain reply, written without the code of the formats. */
const STREAMS: Readonly<Record<FormatName, (reply: PlainReply) => string>> = {
  'openai-chat': ({ choices, usage, ...rest }) => {
    const deltas = choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
    return `${event({ ...rest, choices: deltas })}${event({ ...rest, choices: [], usage })}data: [DONE]\n\n`;
  },
  'openai-responses': (response) => {
    const items = response.output.map((item, output_index) =>
      event({ output_index, item }, 'response.output_item.done'),
    );
    return [
      event({ response: { ...response, output: [], usage: null } }, 'response.created'),
      ...items,
      event({ response }, 'response.completed'),
    ].join('');
  },
  'anthropic-messages': ({ usage = {}, content, stop_reason, ...message }) => {
    const { output_tokens, server_tool_use, ...atStart } = usage;
    return [
      event({ message: { ...message, content: [], usage: { ...atStart, output_tokens: 1 } } }, 'message_start'),
      event({ delta: { stop_reason }, usage: { output_tokens, server_tool_use } }, 'message_delta'),
      event({}, 'message_stop'),
    ].join('');
  },
  gemini: (reply) => {
    const { usageMetadata, ...rest } = reply;
    const early = { trafficType: usageMetadata?.trafficType, promptTokenCount: usageMetadata?.promptTokenCount };
    return event({ ...rest, candidates: [], usageMetadata: early }) + event(reply);
  },
};

/** The usage of a plain reply, as a client of another API and one of the same API has it counted. */
export function plainUsages(name: FormatName, reply: unknown): readonly (Usage | undefined)[] {
  const format = formats[name];
  return [usageOf(format.decodeReply(reply, replyContext())), passedOn(name, JSON.stringify(reply), false)];
}

/** The same of a plain reply that comes as a stream. */
export const usagesAsStream = (name: FormatName, reply: unknown): readonly (Usage | undefined)[] =>
  streamUsages(name, STREAMS[name](reply as PlainReply));

/** The usage of a stream. */
export function streamUsages(name: FormatName, text: string): readonly (Usage | undefined)[] {
  const events = decodeAll(formats[name].decodeStream(replyContext()), [Buffer.from(text)]);
  return [usageOf(events), passedOn(name, text, true)];
}

function passedOn(name: FormatName, text: string, stream: boolean): Usage | undefined {
  const pass = formats[name].passThrough!.open(clientContext(), stream, replyContext());
  pass.push(Buffer.from(text));
  pass.end();
  return pass.signals.usage;
}

type Json = Readonly<Record<string, unknown>>;

/** The plain reply in which the provider would have sent a stream, as far as its usage goes; written without the code of the formats. */
export const PLAIN: Readonly<Record<FormatName, (chunks: readonly Json[]) => unknown>> = {
  'openai-chat': (chunks) => ({
    ...chunks.find(({ usage }) => isObject(usage)),
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
  }),
  'openai-responses': (chunks) => chunks.findLast(({ response }) => isObject(response))?.response,
  'anthropic-messages': (all) => {
    // Some recordings have several streams in one.
    const chunks = all.slice(
      0,
      all.findIndex(({ type }) => type === 'message_stop'),
    );
    const message = chunks.find(({ type }) => type === 'message_start')?.message as Json;
    const usages = [message.usage, ...chunks.flatMap(({ type, usage }) => (type === 'message_delta' ? [usage] : []))];
    return { ...message, content: [], stop_reason: 'end_turn', usage: filled(usages) };
  },
  gemini: (chunks) => {
    const candidates = chunks.flatMap((chunk) => (chunk.candidates ?? []) as readonly Json[]);
    const parts = candidates.flatMap(({ content }) =>
      isObject(content) ? ((content.parts ?? []) as readonly Json[]) : [],
    );
    const grounding = candidates.findLast(
      ({ groundingMetadata: found }) => isObject(found) && Object.keys(found).length > 0,
    );
    const pictures = parts.filter(({ inlineData }) => inlineData);
    return {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Yes' }, ...pictures] },
          finishReason: 'STOP',
          ...(grounding && { groundingMetadata: grounding.groundingMetadata }),
        },
      ],
      usageMetadata: filled(chunks.map(({ usageMetadata }) => usageMetadata)),
    };
  },
};

/** Later values take the place of earlier ones, and a null of none. */
function filled(objects: readonly unknown[]): Json {
  const entries = objects.filter(isObject).flatMap((one) => Object.entries(one).filter(([, value]) => value !== null));
  return Object.fromEntries(entries);
}

/** The objects of a stream of events. */
export const dataOf = (stream: string): readonly Json[] =>
  stream.split(/\r?\n/).flatMap((line): Json[] => {
    const text = /^data: ?(.*)$/.exec(line)?.[1];
    return text === undefined || text === '[DONE]' || text === '' ? [] : [JSON.parse(text) as Json];
  });
