import type { TestAnswer } from '../../../schemas/types.generated.ts';
import type { FormatName } from '../../formats/conversation.ts';
import { formats } from '../../formats/index.ts';
import { toBase64 } from '../../formats/vectors.ts';
import type { ModelTask } from '../../plugin/index.ts';
import { errorBody } from '../../formats/openai-chat/error-body.ts';
import { parsed, type SpokenCall } from './calls.ts';
import type { GenerationEvent } from '../../formats/events.ts';
import type { ClientContext, Format } from '../../formats/format.ts';
import { PIXEL } from '../../core/dry-run/fakes.ts';

export interface WrittenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, or the events of a stream one by one. */
  readonly pieces: readonly string[];
  readonly stream: boolean;
  /** With `fault: cut`, the pieces before the end. Undefined: within the body, or before the last event. */
  readonly cutBehind?: number;
}

const SOME_TEXT = 'Some answer.';

const WEB_PAGE = '<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>';

export function writeAnswer(answer: TestAnswer, spoken: SpokenCall, request: string): WrittenReply {
  const written = withStatus(bareAnswer(answer, spoken, request), answer);
  return { ...written, headers: { ...written.headers, ...lowerCase(answer.headers ?? {}) } };
}

function bareAnswer(answer: TestAnswer, spoken: SpokenCall, request: string): WrittenReply {
  const { status = 200, stream, fault, answer: text } = answer;
  // JSON Schema has no type for "any value".
  const body: unknown = answer.body;
  if (fault === 'garbage') return plain('text/html; charset=utf-8', WEB_PAGE);
  if (stream) return reply(formats[spoken.format].contentType.stream, stream.map(eventOf), true);
  if (body !== undefined) return typeof body === 'string' ? plain(typeOf(body), body) : json(JSON_TYPE, body);
  if (status >= 400) return json(JSON_TYPE, errorOf(status, spoken.format));
  if (status >= 300 || status === 204) return plain(JSON_TYPE, '');
  if (spoken.task === 'generate') return answerOf(text ?? SOME_TEXT, spoken, parsed(request));
  return taskAnswer(spoken, parsed(request));
}

const withStatus = (written: WrittenReply, { status, fault }: TestAnswer): WrittenReply =>
  status === undefined || fault === 'garbage' ? written : { ...written, status };

const JSON_TYPE = 'application/json';
const typeOf = (text: string): string => (typeof parsed(text) === 'object' ? JSON_TYPE : 'text/plain; charset=utf-8');

const reply = (type: string, pieces: readonly string[], stream: boolean): WrittenReply => ({
  status: 200,
  headers: { 'content-type': type },
  pieces,
  stream,
});
const plain = (type: string, text: string): WrittenReply => reply(type, [text], false);
const json = (type: string, body: unknown): WrittenReply => plain(type, JSON.stringify(body));

/** APIs with named events repeat the name in the data. */
function eventOf(data: string | Readonly<Record<string, unknown>>): string {
  if (typeof data === 'string') return data;
  const { type } = data;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
}

function errorOf(status: number, format: FormatName): object {
  const message = `The test upstream answers ${status}.`;
  if (format === 'openai-chat') return errorBody(status, message);
  return formats[format].encodeError({ status, message, type: '', code: null, param: null, requestId: 'answer' }).body;
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Creation time in replies: the same in every run. */
const CREATED = 1_767_225_600;

function answerOf(text: string, spoken: SpokenCall, request: unknown): WrittenReply {
  const format = formats[spoken.format];
  const events = eventsOf(text, spoken.model);
  const client = contextOf(spoken, request);
  if (spoken.stream) return streamOf(format, events, client);
  const whole = JSON.parse(format.encodeReply(events, client).toString()) as object;
  return json(format.contentType.body, spoken.predicted ? { predictions: [whole] } : whole);
}

function streamOf(format: Format, events: readonly GenerationEvent[], client: ClientContext): WrittenReply {
  const encoded = (some: readonly GenerationEvent[]): string[] => {
    const encoder = format.encodeStream(client);
    return some.flatMap((event) => wireEvents(encoder.push([event])));
  };
  const lastText = events.findLastIndex(({ type }) => type === 'text');
  return {
    ...reply(format.contentType.stream, encoded(events), true),
    // Part of the text has been sent. In every API a stream without a finish is broken.
    cutBehind: encoded(events.slice(0, lastText)).length,
  };
}

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

function contextOf({ model }: SpokenCall, request: unknown): ClientContext {
  const { stream_options: options } = Object(request) as { stream_options?: unknown };
  const { include_usage: usage } = Object(options) as { include_usage?: unknown };
  return { id: 'answer', created: CREATED, strict: true, includeUsage: usage === true, model };
}

/** Small, with distinct components, so that normalization or truncation by a client is visible. */
const VECTOR = [0.25, -0.5, 0.75];

const TOKENS = 12;

/** A reply for a task other than generation, in the body format that the request implies. */
function taskAnswer(spoken: SpokenCall, request: unknown): WrittenReply {
  const whole = replyTo(spoken, Object(request) as Readonly<Record<string, unknown>>);
  return spoken.stream ? reply('text/event-stream', [asEvent(whole)], true) : json(JSON_TYPE, whole);
}

function asEvent(whole: object): string {
  const [image] = 'data' in whole && Array.isArray(whole.data) ? (whole.data as object[]) : [];
  if (!image) return `data: ${JSON.stringify(whole)}\n\n`;
  const type = 'image_generation.completed';
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...image, created_at: CREATED })}\n\n`;
}

function replyTo({ task, format, model }: SpokenCall, body: Readonly<Record<string, unknown>>): object {
  if (task === 'count_tokens') return formats[format].counting?.encodeReply(TOKENS) ?? { tokens: TOKENS };
  return (TASK_REPLIES[task] ?? embeddingsFor)(body, model);
}

type Fields = Readonly<Record<string, unknown>>;

/** Replies to the tasks that are no conversation; embeddings are the rest. */
const TASK_REPLIES: Readonly<Partial<Record<ModelTask, (body: Fields, model: string) => object>>> = {
  images: imagesFor,
  image_edits: imagesFor,
  image_variations: imagesFor,
  transcriptions: () => ({ text: SOME_TEXT }),
  translations: () => ({ text: SOME_TEXT }),
  completions: (_, model) => ({
    id: 'answer',
    object: 'text_completion',
    created: CREATED,
    model,
    choices: [{ index: 0, text: SOME_TEXT, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: TOKENS, completion_tokens: TOKENS, total_tokens: 2 * TOKENS },
  }),
  moderations: (_, model) => ({
    id: 'answer',
    model,
    results: [{ flagged: false, categories: {}, category_scores: {} }],
  }),
  speech: () => ({ type: 'speech.audio.done', usage: { input_tokens: TOKENS, output_tokens: TOKENS } }),
};

function imagesFor(body: Readonly<Record<string, unknown>>): object {
  if (Array.isArray(body['contents'])) {
    const parts = [{ inlineData: { mimeType: 'image/png', data: PIXEL } }];
    return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] };
  }
  if (Array.isArray(body['instances'])) {
    const { sampleCount } = Object(body['parameters']) as { sampleCount?: unknown };
    return { predictions: times(sampleCount, { bytesBase64Encoded: PIXEL, mimeType: 'image/png' }) };
  }
  return { created: CREATED, data: times(body['n'], { b64_json: PIXEL }) };
}

const times = <T>(count: unknown, value: T): T[] =>
  Array.from({ length: typeof count === 'number' ? count : 1 }, () => value);

function embeddingsFor(body: Readonly<Record<string, unknown>>, model: string): object {
  if (Array.isArray(body['instances'])) return { predictions: body['instances'].map(predictionFor) };
  if ('content' in body) return { embedding: { values: VECTOR }, usageMetadata: { promptTokenCount: TOKENS } };
  const inputs = inputsIn(body['input']);
  const embedding = body['encoding_format'] === 'base64' ? toBase64(VECTOR) : VECTOR;
  return {
    object: 'list',
    data: Array.from({ length: inputs }, (_, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
  };
}

/** A list of numbers is one input: its tokens. */
const inputsIn = (input: unknown): number => (Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1);

/** Vertex AI, text or multimodal (docs/protocols/embeddings.md#google-predict). */
function predictionFor(instance: unknown): object {
  const { content, text, image, video } = Object(instance) as Readonly<Record<string, unknown>>;
  if (content !== undefined)
    return { embeddings: { values: VECTOR, statistics: { token_count: TOKENS, truncated: false } } };
  return {
    ...(text !== undefined && { textEmbedding: VECTOR }),
    ...(image !== undefined && { imageEmbedding: VECTOR }),
    ...(video !== undefined && { videoEmbeddings: [{ embedding: VECTOR, startOffsetSec: 0, endOffsetSec: 1 }] }),
  };
}
