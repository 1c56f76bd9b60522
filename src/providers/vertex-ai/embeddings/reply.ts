import type { JsonObject } from '../../../formats/conversation.ts';
import { ReplyFault } from '../../../formats/format.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { isObject } from '../../../formats/json/object.ts';

export interface Embedding {
  readonly values: readonly number[];
  /** Undefined where the model counts none. */
  readonly tokens: number | undefined;
  readonly truncated: boolean;
  /** Fields beside the vector that OpenAI's API does not have. */
  readonly more?: JsonObject;
}

export interface ReplyForm extends Pick<CodecContext, 'model' | 'strict'> {
  /** The client wants vectors as base64 of little-endian float32, as OpenAI's SDKs do unless told otherwise (wire.md A7). */
  readonly base64: boolean;
}

/** OpenAI's reply of vectors in the order of the input. Throws ReplyFault where they cannot be one model's. */
export function toReply(embeddings: readonly Embedding[], { model, strict, base64 }: ReplyForm): TaskReply {
  const [first] = embeddings;
  const odd = embeddings.findIndex(({ values }) => values.length !== first?.values.length);
  if (odd >= 0) {
    throw new ReplyFault(
      `vector ${odd} has ${embeddings[odd]?.values.length} dimensions, the first has ${first?.values.length}`,
    );
  }
  const tokens = sumOfTokens(embeddings);
  const data = embeddings.map(({ values, truncated, more }, index) => ({
    object: 'embedding',
    index,
    embedding: base64 ? toBase64(values) : values,
    ...more,
    ...(truncated && !strict && { truncated }),
  }));
  return {
    ok: true,
    // OpenAI's reply has usage always: clients in typed languages read none without it.
    body: { object: 'list', data, model, usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 } },
    ...(tokens !== undefined && { usage: { input: tokens, output: 0, total: tokens } }),
  };
}

function sumOfTokens(embeddings: readonly Embedding[]): number | undefined {
  let sum = 0;
  for (const { tokens } of embeddings) {
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}

function toBase64(values: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(values.length * Float32Array.BYTES_PER_ELEMENT);
  // Not the bytes of a Float32Array, which are in the order of the machine.
  for (const [at, value] of values.entries()) bytes.writeFloatLE(value, at * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}

/**
 * Vectors are float32. A larger number is `1e400` or the like: JSON would write it as null, and base64 as infinity, which spoils
 * every comparison it is in.
 */
const isFloat = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(Math.fround(value));

/** @param what how a fault names it */
export function readVector(value: unknown, what: string): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) throw new ReplyFault(`${what} is not there`);
  if (!value.every(isFloat)) throw new ReplyFault(`${what} is not made of numbers`);
  return value;
}

/** The predictions of one call, one for each of its instances. */
export function readPredictions(reply: unknown, expected: number): readonly JsonObject[] {
  const predictions = isObject(reply) ? reply['predictions'] : undefined;
  if (!Array.isArray(predictions)) throw new ReplyFault('there are no predictions');
  if (predictions.length !== expected)
    throw new ReplyFault(`there are ${predictions.length} predictions for ${expected} instances`);
  return predictions.map((prediction: unknown, at) => {
    if (!isObject(prediction)) throw new ReplyFault(`prediction ${at} is no object`);
    return prediction;
  });
}

export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
