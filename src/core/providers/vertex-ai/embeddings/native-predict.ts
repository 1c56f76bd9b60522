import type { GenerationEvent } from '../../../../formats/events.ts';
import { claimOf, sound } from '../../../../formats/counts.ts';
import { ReplyFault } from '../../../../formats/format.ts';
import type { BodyEdit } from '../../../../formats/body-view.ts';
import { isObject } from '../../../../formats/json/object.ts';
import { PlainPassThrough } from '../../../../formats/streams/plain-pass-through.ts';
import type { NativeCodec } from '../../codec.ts';

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
  openReader: (model) => new PlainPassThrough(readPredictions, model),
};

function readPredictions(reply: unknown): readonly GenerationEvent[] {
  const predictions = isObject(reply) ? reply['predictions'] : undefined;
  if (!Array.isArray(predictions)) throw new ReplyFault('it contains no predictions');
  const counts = predictions.map(tokensOf);
  const tokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  // The multimodal model counts none.
  const isCounted = counts.length > 0 && !counts.includes(undefined);
  const usage = isCounted
    ? [{ type: 'usage', usage: sound({ input: tokens, output: 0, total: tokens }) } as const]
    : [];
  return [...usage, { type: 'end' }];
}

function tokensOf(prediction: unknown): number | undefined {
  const embeddings = isObject(prediction) ? prediction['embeddings'] : undefined;
  const statistics = isObject(embeddings) ? embeddings['statistics'] : undefined;
  return isObject(statistics) ? claimOf(statistics['token_count']) : undefined;
}
