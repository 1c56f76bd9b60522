import type { JsonObject } from '../../../../formats/conversation.ts';
import { sound } from '../../../../formats/counts.ts';
import { ReplyFault } from '../../../../formats/format.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { isObject } from '../../../../formats/json/object.ts';
import { toBase64 } from '../../vectors.ts';

export interface Embedding {
  readonly values: readonly number[];
  /** Undefined where the model reports no count. */
  readonly tokens: number | undefined;
  readonly truncated: boolean;
  /** Fields beside the vector that OpenAI's API does not have. */
  readonly more?: JsonObject;
}

interface VectorForm extends Pick<CodecContext, 'model' | 'strict'> {
  /**
   * The client requests vectors as base64 of little-endian float32, as OpenAI's SDKs do by default
   * (docs/protocols/embeddings.md#base64-vectors).
   */
  readonly base64: boolean;
}

/** OpenAI's reply with the vectors in the order of the input. Throws ReplyFault where their lengths differ. */
export function toReply(embeddings: readonly Embedding[], { model, strict, base64 }: VectorForm): TaskReply {
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
