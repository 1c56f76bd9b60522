import { RequestFault } from '../../../formats/format.ts';
import type { LossReport } from '../../../formats/losses/losses.ts';
import { mimeOfUrl, parseDataUri } from '../../../formats/media/media-types.ts';
import { invalidValue } from '../../../formats/openai-chat/read.ts';
import { asSeconds, asString, asText, EmbeddingFields } from './fields.ts';
import { isObject } from '../../../formats/json/object.ts';

export type MediaKind = 'image' | 'video' | 'audio' | 'document';

/** Media to embed: its bytes or its address. */
export interface Media {
  readonly kind: MediaKind;
  /** Its path in the body. */
  readonly param: string;
  /** base64 */
  readonly data?: string;
  readonly uri?: string;
  readonly mime?: string;
  readonly segment: Segment;
}

/** The part of a video to embed, in seconds. */
export interface Segment {
  readonly start?: number;
  readonly end?: number;
  readonly interval?: number;
}

/**
 * Reads `{base64}` or `{url}`, with `mime_type`; a bare address is a url (docs/protocols/embeddings.md#mapping). Fields that cannot
 * be sent are reported to `losses`.
 */
export function readMedia(kind: MediaKind, value: unknown, at: { param: string; losses: LossReport }): Media {
  const { param, losses } = at;
  if (typeof value === 'string') return { kind, param, ...fromUrl(value, param), segment: {} };
  if (!isObject(value)) throw new RequestFault('invalid_request', `\`${param}\` must be an object.`, param);
  const fields = new EmbeddingFields(value, param);
  const data = fields.take(['base64'], asText);
  const url = fields.take(['url'], asText);
  if ((data === undefined) === (url === undefined))
    throw invalidValue(param, `\`${param}\` needs one of \`base64\` and \`url\`.`);
  const mime = fields.take(['mime_type'], asString);
  const segment = kind === 'video' ? readSegment(fields) : {};
  fields.reportRest(losses);
  // Some clients send complete data URIs as `base64`.
  const source = data === undefined ? fromUrl(url ?? '', fields.param('url')) : (fromDataUri(data) ?? { data });
  return { kind, param, ...source, ...(mime !== undefined && { mime }), segment };
}

type Source = Pick<Media, 'data' | 'uri' | 'mime'>;

function fromDataUri(text: string): Source | undefined {
  const parsed = parseDataUri(text);
  return parsed && { data: parsed.data, ...(parsed.mime !== undefined && { mime: parsed.mime }) };
}

function fromUrl(url: string, param: string): Source {
  const inline = fromDataUri(url);
  if (inline) return inline;
  if (!/^(?:gs|https?):\/\/./i.test(url))
    throw invalidValue(param, `\`${param}\` must be a gs://, https:// or data: address.`);
  const mime = mimeOfUrl(url);
  return { uri: url, ...(mime !== undefined && { mime }) };
}

function readSegment(fields: EmbeddingFields): Segment {
  const start = fields.take(['start_offset'], asSeconds);
  const end = fields.take(['end_offset'], asSeconds);
  const interval = fields.take(['interval'], asSeconds);
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(interval !== undefined && { interval }),
  };
}
