import { formats } from '../../formats/index.ts';
import { PIXEL } from '../run/fakes.ts';
import type { Spoken } from './calls.ts';
import { CREATED, type WrittenReply } from './good-answer.ts';

/** Small, with distinct components, so that normalization or truncation by a client is visible. */
const VECTOR = [0.25, -0.5, 0.75];

const TOKENS = 12;

/** A reply for a task other than generation, in the body format that the request implies. */
export function taskAnswer(spoken: Spoken, asked: unknown): WrittenReply {
  const body = Object(asked) as Readonly<Record<string, unknown>>;
  const reply = replyTo(spoken, body);
  const headers = { 'content-type': spoken.stream ? 'text/event-stream' : 'application/json' };
  const text = JSON.stringify(reply);
  return { status: 200, headers, pieces: [spoken.stream ? asEvent(reply, text) : text], stream: spoken.stream };
}

function asEvent(reply: object, text: string): string {
  const [image] = 'data' in reply && Array.isArray(reply.data) ? (reply.data as object[]) : [];
  if (!image) return `data: ${text}\n\n`;
  const type = 'image_generation.completed';
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...image, created_at: CREATED })}\n\n`;
}

function replyTo({ task, format, model }: Spoken, body: Readonly<Record<string, unknown>>): object {
  if (task === 'count_tokens') return formats[format].counting?.encodeReply(TOKENS) ?? { tokens: TOKENS };
  return task === 'images' ? imagesFor(body) : embeddingsFor(body, model);
}

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
  const embedding = body['encoding_format'] === 'base64' ? base64(VECTOR) : VECTOR;
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

function base64(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [at, value] of values.entries()) bytes.writeFloatLE(value, at * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}
