import type { JsonObject } from '../../../formats/conversation.ts';
import { sound } from '../../../formats/counts.ts';
import { ReplyFault } from '../../../formats/format.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { isObject } from '../../../formats/json/object.ts';

export interface Embedding {
  readonly values: readonly number[];
  /** Undefined where the model reports no count. */
  readonly tokens: number | undefined;
  readonly truncated: boolean;
  /** Fields beside the vector that OpenAI's API does not have. */
  readonly more?: JsonObject;
}

interface ReplyForm extends Pick<CodecContext, 'model' | 'strict'> {
  /**
   * The client requests vectors as base64 of little-endian float32, as OpenAI's SDKs do by default
   * (docs/protocols/embeddings.md#base64-vectors).
   */
  readonly base64: boolean;
}

/** OpenAI's reply with the vectors in the order of the input. Throws ReplyFault where their lengths differ. */
export function toReply(embeddings: readonly Embedding[], { model, strict, base64 }: ReplyForm): TaskReply {
  const [first] = embeddings;
  const odd = embeddings.findIndex(({ values }) => values.length !== first?.values.length);
  if (odd >= 0) {
    throw new ReplyFault(
      `vector ${odd} has ${embeddings[odd]?.values.length} dimensions, the first has ${first?.values.length}`,
    );
  }
  const tokens = sumOfTokens(embeddings);
  const usage = tokens === undefined ? undefined : sound({ input: tokens, output: 0, total: tokens });
  const input = usage?.input ?? 0;
  const data = embeddings.map(({ values, truncated, more }, index) => ({
    object: 'embedding',
    index,
    embedding: base64 ? toBase64(values) : values,
    ...more,
    ...(truncated && !strict && { truncated }),
  }));
  return {
    ok: true,
    // OpenAI's reply always has usage, and clients in typed languages cannot decode a reply without it.
    body: { object: 'list', data, model, usage: { prompt_tokens: input, total_tokens: input } },
    ...(usage && { usage }),
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
  // Not the bytes of a Float32Array, whose byte order is that of the machine.
  for (const [at, value] of values.entries()) bytes.writeFloatLE(value, at * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}

/**
 * Vectors are float32. A larger number, such as `1e400`, would become null in JSON and infinity in base64, which makes every
 * comparison with the vector meaningless.
 */
const isFloat = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(Math.fround(value));

/** @param name the name of the vector in a fault */
export function readVector(value: unknown, name: string): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) throw new ReplyFault(`${name} is missing`);
  if (!value.every(isFloat)) throw new ReplyFault(`${name} has items that are not numbers`);
  return value;
}

/** The predictions of one call, one for each of its instances. */
export function readPredictions(reply: unknown, expected: number): readonly JsonObject[] {
  const predictions = isObject(reply) ? reply['predictions'] : undefined;
  if (!Array.isArray(predictions)) throw new ReplyFault('it contains no predictions');
  if (predictions.length !== expected)
    throw new ReplyFault(`there are ${predictions.length} predictions for ${expected} instances`);
  return predictions.map((prediction: unknown, at) => {
    if (!isObject(prediction)) throw new ReplyFault(`prediction ${at} is not an object`);
    return prediction;
  });
}
