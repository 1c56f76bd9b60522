import type { GenerationEvent } from '../../formats/events.ts';
import type { ClientContext, Format } from '../../formats/format.ts';
import { formats } from '../../formats/index.ts';
import type { Spoken } from './calls.ts';

/** A reply of a fake upstream. */
export interface WrittenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, or the events of a stream one by one. */
  readonly pieces: readonly string[];
  readonly stream: boolean;
  /**
   * With `fault: cut`, the connection ends after this many pieces. Undefined: within the body, or before the last
   * event.
   */
  readonly cutBehind?: number;
}

/** Creation time in replies: the same in every run. */
export const CREATED = 1_767_225_600;

/** A complete answer with this text, in the upstream's API. */
export function answerOf(text: string, spoken: Spoken, asked: unknown): WrittenReply {
  const format = formats[spoken.format];
  const events = eventsOf(text, spoken.model);
  const client = contextOf(spoken, asked);
  if (spoken.stream) return streamOf(format, events, client);
  const reply = format.encodeReply(events, client);
  const body = spoken.predicted ? { predictions: [reply] } : reply;
  return { status: 200, headers: typed(format.contentType.body), pieces: [JSON.stringify(body)], stream: false };
}

function streamOf(format: Format, events: readonly GenerationEvent[], client: ClientContext): WrittenReply {
  const encoded = (some: readonly GenerationEvent[]): string[] => {
    const encoder = format.encodeStream(client);
    return some.flatMap((event) => wireEvents(encoder.push([event])));
  };
  const lastText = events.findLastIndex(({ type }) => type === 'text');
  return {
    status: 200,
    headers: typed(format.contentType.stream),
    pieces: encoded(events),
    stream: true,
    // Part of the text has been sent. In every API a stream without a finish is broken.
    cutBehind: encoded(events.slice(0, lastText)).length,
  };
}

const typed = (type: string): Record<string, string> => ({ 'content-type': type });

const wireEvents = (text: string): string[] => text.split(/(?<=\n\r?\n)/).filter((event) => event !== '');

function eventsOf(text: string, model: string): GenerationEvent[] {
  const pieces = piecesOf(text);
  const [input, output] = [10, Math.max(1, pieces.length)];
  return [
    { type: 'start', id: 'answer', model, created: CREATED },
    ...pieces.map((piece): GenerationEvent => ({ type: 'text', choice: 0, block: 0, text: piece })),
    { type: 'usage', usage: { input, output, total: input + output } },
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'end' },
  ];
}

/** Words, or the halves of a single word, so that a truncated stream has content but no end. */
function piecesOf(text: string): string[] {
  const words = text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
  if (words.length > 1) return words;
  const characters = [...text];
  const half = Math.ceil(characters.length / 2);
  return [characters.slice(0, half).join(''), characters.slice(half).join('')].filter((piece) => piece !== '');
}

function contextOf({ model }: Spoken, asked: unknown): ClientContext {
  const { stream_options: options } = Object(asked) as { stream_options?: unknown };
  const { include_usage: usage } = Object(options) as { include_usage?: unknown };
  return { id: 'answer', created: CREATED, strict: true, includeUsage: usage === true, model };
}
