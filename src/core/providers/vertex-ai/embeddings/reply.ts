import type { JsonObject } from '../../../../formats/conversation.ts';
import { sound, claimOf } from '../../../../formats/counts.ts';
import { ReplyFault } from '../../../../formats/faults.ts';
import type { CodecContext, TaskReply, NativeCodec } from '../../codec.ts';
import { isObject } from '../../../../formats/json/object.ts';
import { toBase64 } from '../../../../formats/vectors.ts';
import type { GenerationEvent, Usage } from '../../../../formats/events.ts';
import type { BodyEdit } from '../../../../formats/body-view.ts';
import { PlainPassThrough } from '../../../../formats/streams/plain-pass-through.ts';

export interface Embedding {
  readonly values: readonly number[];
  /** Undefined where the model reports no count. */
  readonly tokens: number | undefined;
  readonly truncated: boolean;
  /** Fields beside the vector that OpenAI's API does not have. */
  readonly more?: JsonObject;
}

interface VectorForm extends Pick<CodecContext, 'model' | 'strict'> {
  /** Little-endian float32, the default of OpenAI's SDKs (docs/protocols/embeddings.md#base64-vectors). */
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
  const tokens = sumOf(embeddings.map((one) => one.tokens));
  const usage = tokens === undefined ? undefined : inputUsage(tokens);
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

/** Undefined where one of them has no count. */
const sumOf = (counts: readonly (number | undefined)[]): number | undefined =>
  counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );

/** Embeddings have no output. */
const inputUsage = (tokens: number): Usage => sound({ input: tokens, output: 0, total: tokens });

/** The end of a reply that passes through, with its usage if it has one. */
export const countedEnd = (tokens: number | undefined): readonly GenerationEvent[] => [
  ...(tokens === undefined ? [] : [{ type: 'usage', usage: inputUsage(tokens) } as const]),
  { type: 'end' },
];

function predictionsIn(reply: unknown): readonly unknown[] {
  const predictions = isObject(reply) ? reply['predictions'] : undefined;
  if (!Array.isArray(predictions)) throw new ReplyFault('it contains no predictions');
  return predictions;
}

export function readPredictions(reply: unknown, expected: number): readonly JsonObject[] {
  const predictions = predictionsIn(reply);
  if (predictions.length !== expected)
    throw new ReplyFault(`there are ${predictions.length} predictions for ${expected} instances`);
  return predictions.map((prediction, at) => {
    if (!isObject(prediction)) throw new ReplyFault(`prediction ${at} is not an object`);
    return prediction;
  });
}

/** Fields of the gateway that the path holds. */
const OF_PATH = ['model', 'stream'] as const;

/** A body of `:predict` for a model with this method. The limits of one call are the caller's concern, as they are at Google. */
export const nativePredict: NativeCodec = {
  mode: 'pass-through',
  form: 'predict',
  edits: (body) =>
    OF_PATH.filter((key) => body.has(key)).map((key): BodyEdit => ({
      path: [key],
      value: undefined,
      source: 'gateway',
    })),
  openReader: (model) => new PlainPassThrough(countPredictions, model),
};

function countPredictions(reply: unknown): readonly GenerationEvent[] {
  const counts = predictionsIn(reply).map(tokensOf);
  // The multimodal model counts none.
  return countedEnd(counts.length > 0 ? sumOf(counts) : undefined);
}

function tokensOf(prediction: unknown): number | undefined {
  const embeddings = isObject(prediction) ? prediction['embeddings'] : undefined;
  const statistics = isObject(embeddings) ? embeddings['statistics'] : undefined;
  return isObject(statistics) ? claimOf(statistics['token_count']) : undefined;
}
