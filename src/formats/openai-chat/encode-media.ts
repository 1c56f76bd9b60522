import type { JsonObject, MediaPart } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { refuseForeignFile } from '../media/foreign-files.ts';
import { takesAddress } from './remote-media.ts';
import { audioFormat, extensionOf, mimeOfName, mimeOfUrl, toDataUri } from '../media/media-types.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { compact } from '../json/object.ts';

interface MediaDestination {
  readonly target: RequestTarget;
  readonly report: LossReport;
}

/** Encodes a media part as decode-parts.ts reads it (docs/protocols/openai-chat.md#content-parts). */
export function encodeMedia(part: MediaPart, path: BodyPlace, { target, report }: MediaDestination): JsonObject {
  const encoded = encodeSource(part, path, target);
  if (part.name && encoded.type !== 'file')
    report.dropped(BodyPlace.field(path, 'filename'), 'Only file parts have a name.');
  if (part.detail && encoded.type !== 'image_url')
    report.dropped(BodyPlace.field(path, 'detail'), 'Only images have a level of detail.');
  if (part.parameters && encoded.type === 'input_audio')
    report.dropped(
      BodyPlace.field(path, 'input_audio'),
      `OpenAI's audio formats have no parameters: ${part.parameters}.`,
    );
  if (part.mime !== undefined && !statesMime(part, part.mime))
    report.dropped(BodyPlace.field(path, 'mime_type'), 'OpenAI chat reads the MIME type from the file extension.');
  return encoded;
}

/** True when a reader of the encoded part finds the same MIME type: in the data, or by an extension. */
function statesMime({ source, name }: MediaPart, mime: string): boolean {
  if (source.kind === 'url') return mimeOfUrl(source.url) === mime;
  if (source.kind === 'file') return name !== undefined && mimeOfName(name) === mime;
  return true;
}

function encodeSource(part: MediaPart, path: BodyPlace, target: RequestTarget): JsonObject {
  const { source, detail, name } = part;
  switch (source.kind) {
    case 'url':
      if (!takesAddress({ ...part, url: source.url }, target)) throw unreadableAddress(path, part.media);
      // `image_url` holds every kind of media (docs/protocols/openai-chat.md#media-addresses).
      return { type: 'image_url', image_url: compact({ url: source.url, detail }) };
    case 'file':
      refuseForeignFile(source.id, path);
      return { type: 'file', file: compact({ file_id: source.id, filename: name }) };
    case 'text':
      return { type: 'text', text: source.text };
    case 'data':
      return encodeData(part, source.data, path);
  }
}

function encodeData(part: MediaPart, data: string, path: BodyPlace): JsonObject {
  const { mime, detail, name } = part;
  if (part.media === 'audio') {
    const format = mime && audioFormat(mime);
    if (!format) throw undescribed(path, 'an audio format this API can name');
    return { type: 'input_audio', input_audio: { data, format } };
  }
  if (!mime) throw undescribed(path, 'a MIME type');
  const uri = toDataUri(part.parameters ? `${mime};${part.parameters}` : mime, data);
  return part.media === 'document'
    ? { type: 'file', file: { file_data: uri, filename: name ?? nameOfType(mime) } }
    : { type: 'image_url', image_url: compact({ url: uri, detail }) };
}

/** OpenAI refuses `file_data` without a name (docs/protocols/files.md#inline), and reads the type from its extension. */
const nameOfType = (mime: string): string => `document${extensionOf(mime) ?? ''}`;

function unreadableAddress(path: BodyPlace, media: MediaPart['media']): RequestFault {
  const message = `\`${String(path)}\` is the URL of a ${media}, and this target reads only images by https: send a data URI.`;
  return new RequestFault('invalid_value', message, path);
}

function undescribed(path: BodyPlace, what: string): RequestFault {
  return new RequestFault('invalid_value', `The media at \`${String(path)}\` needs ${what}.`, path);
}
