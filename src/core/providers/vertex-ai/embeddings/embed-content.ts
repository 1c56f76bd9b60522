import { claimOf } from '../../../../formats/counts.ts';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { ReplyFault, RequestFault } from '../../../../formats/faults.ts';
import { compact, isObject } from '../../../../formats/json/object.ts';
import { LossReport } from '../../../../formats/losses/losses.ts';
import type { TranslatingCodec } from '../../codec.ts';
import { asBoolean, type EmbeddingFields, openBody, readPurpose, readShape, REASONS } from './request.ts';
import { ALL_MEDIA, readInputs, type Input, type Media } from './input.ts';
import { toReply, type Embedding } from './reply.ts';
import { readVector } from '../../../../formats/vectors.ts';

/** Text and media by `:embedContent`, which accepts one content per call (docs/protocols/embeddings.md#embed-content). */
export const embedContentCodec = (parallelCalls: number): TranslatingCodec => ({
  mode: 'translate',
  encode(body, context) {
    const losses = new LossReport();
    const { fields, base64 } = openBody(body);
    const inputs = fields.need('input', (value) => readInputs(value, { media: ALL_MEDIA, losses }));
    const embedContentConfig = readConfig(fields, losses);
    const calls = inputs.map((input) => ({
      content: { parts: toParts(input, losses) },
      ...(Object.keys(embedContentConfig).length > 0 && { embedContentConfig }),
    }));
    fields.reportRest(losses, REASONS);
    return {
      calls,
      parallel: parallelCalls,
      losses: losses.list(),
      check: (reply) => void decodeEmbedding(reply),
      decode: (replies) => toReply(replies.map(decodeEmbedding), { ...context, base64 }),
    };
  },
});

function readConfig(fields: EmbeddingFields, losses: LossReport): JsonObject {
  const documentOcr = fields.take(['document_ocr', 'documentOcr'], asBoolean);
  const audioTrackExtraction = fields.take(['audio_track_extraction', 'audioTrackExtraction'], asBoolean);
  return {
    ...readPurpose(fields, losses),
    ...readShape(fields),
    ...compact({ documentOcr, audioTrackExtraction }),
  };
}

export function toParts({ text, media }: Input, losses: LossReport): readonly JsonObject[] {
  return [...(text === undefined ? [] : [{ text }]), ...media.map((medium) => toPart(medium, losses))];
}

function toPart({ param, data, uri, mime, segment }: Media, losses: LossReport): JsonObject {
  if (mime === undefined) {
    const at = `${param}.mime_type`;
    throw new RequestFault(
      'missing_required_parameter',
      `\`${at}\` is required: the type cannot be derived from the other fields.`,
      at,
    );
  }
  const { start, end, interval } = segment;
  if (interval !== undefined) losses.dropped(`${param}.interval`, 'This model returns one vector for the whole video');
  const seconds = (time: number | undefined) => (time === undefined ? undefined : `${time}s`);
  const videoMetadata = compact({ startOffset: seconds(start), endOffset: seconds(end) });
  return {
    ...(uri === undefined ? { inlineData: { mimeType: mime, data } } : { fileData: { mimeType: mime, fileUri: uri } }),
    ...(Object.keys(videoMetadata).length > 0 && { videoMetadata }),
  };
}

function decodeEmbedding(reply: unknown): Embedding {
  if (!isObject(reply) || !isObject(reply['embedding'])) throw new ReplyFault('it contains no embedding');
  const usage = isObject(reply['usageMetadata']) ? reply['usageMetadata'] : {};
  return {
    values: readVector(reply['embedding']['values'], 'the vector'),
    tokens: claimOf(usage['promptTokenCount']),
    truncated: reply['truncated'] === true,
  };
}
