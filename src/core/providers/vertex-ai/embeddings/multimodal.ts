import { numberOf, compact, isObject } from '../../../../formats/json/object.ts';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { ReplyFault } from '../../../../formats/faults.ts';
import { LossReport } from '../../../../formats/losses/losses.ts';
import { invalidValue } from '../../../../formats/openai-chat/read.ts';
import type { TranslatingCodec } from '../../codec.ts';
import { asDimensions, openBody, REASONS } from './request.ts';
import { readInputs, type Input, type Media, type MediaKind } from './input.ts';
import { nativePredict, readPredictions, toReply, type Embedding } from './reply.ts';
import { readVector } from '../../../../formats/vectors.ts';

const IMAGES_AND_VIDEOS: ReadonlySet<MediaKind> = new Set(['image', 'video']);

const OF_OTHERS = ['task_type', 'taskType', 'input_type', 'title', 'auto_truncate', 'autoTruncate'];
const REASONS_HERE: Readonly<Record<string, string>> = {
  ...REASONS,
  ...Object.fromEntries(OF_OTHERS.map((name) => [name, 'This model accepts input and dimensions only'])),
};

/** Text, image and video get a vector each, in one space (docs/protocols/embeddings.md#multimodal-embeddings). */
export const multimodalCodec = (parallelCalls: number): TranslatingCodec => ({
  mode: 'translate',
  native: nativePredict,
  encode(body, context) {
    const losses = new LossReport();
    const { fields, base64 } = openBody(body);
    const inputs = fields.need('input', (value) => readInputs(value, { media: IMAGES_AND_VIDEOS, losses }));
    const dimension = fields.take(['dimensions'], asDimensions);
    const read = (reply: unknown, call: number): readonly Embedding[] =>
      readPredictions(reply, 1).map((one) => decodePrediction(one, inputs[call]));
    fields.reportRest(losses, REASONS_HERE);
    return {
      calls: inputs.map((input) => ({
        instances: [toInstance(input)],
        ...(dimension !== undefined && { parameters: { dimension } }),
      })),
      parallel: parallelCalls,
      losses: losses.list(),
      check: (reply, call) => void read(reply, call),
      decode: (replies) => toReply(replies.flatMap(read), { ...context, base64 }),
    };
  },
});

const toInstance = ({ text, media }: Input): JsonObject => ({
  ...(text !== undefined && { text }),
  ...Object.fromEntries(media.map((medium) => [medium.kind, toMedium(medium)])),
});

function toMedium({ kind, param, data, uri, mime, segment }: Media): JsonObject {
  if (uri !== undefined && !uri.startsWith('gs://'))
    throw invalidValue(param, `\`${param}\` must be a gs:// address or inline data for this model.`);
  const { start, end, interval } = segment;
  const videoSegmentConfig = compact({ startOffsetSec: start, endOffsetSec: end, intervalSec: interval });
  return {
    ...(uri === undefined ? { bytesBase64Encoded: data } : { gcsUri: uri }),
    ...(kind === 'image' && mime !== undefined && { mimeType: mime }),
    ...(Object.keys(videoSegmentConfig).length > 0 && { videoSegmentConfig }),
  };
}

/**
 * `embedding` is always set, because OpenAI's SDKs read nothing else: the vector of the text, or of the image, or the
 * first one of the video. The other vectors are lists of numbers in every encoding: no client would know to decode
 * them.
 */
function decodePrediction(prediction: JsonObject, input: Input | undefined): Embedding {
  const has = (kind: MediaKind): boolean => input?.media.some((medium) => medium.kind === kind) ?? false;
  const text =
    input?.text === undefined ? undefined : readVector(prediction['textEmbedding'], 'the vector of the text');
  const image = has('image') ? readVector(prediction['imageEmbedding'], 'the vector of the image') : undefined;
  const videos = has('video') ? readVideos(prediction['videoEmbeddings']) : undefined;
  const values = text ?? image ?? videos?.[0]?.embedding;
  if (!values) throw new ReplyFault('it contains no vector');
  return {
    values,
    tokens: undefined,
    truncated: false,
    more: compact({ image_embedding: image, video_embeddings: videos }),
  };
}

function readVideos(value: unknown) {
  if (!Array.isArray(value) || value.length === 0) throw new ReplyFault('the vectors of the video are missing');
  return value.map((segment: unknown, index) => {
    const { embedding, startOffsetSec, endOffsetSec } = isObject(segment) ? segment : {};
    return compact({
      embedding: readVector(embedding, `vector ${index} of the video`),
      start_offset: numberOf(startOffsetSec),
      end_offset: numberOf(endOffsetSec),
      index,
    });
  });
}
