import type { JsonObject, MediaPart, MediaSource, Part } from '../conversation.ts';
import { stringOf } from '../json/object.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { mediaPart, mimeOfName, mimeOfUrl, parseDataUri, typed } from '../media/media-types.ts';
import { RequestFault } from '../faults.ts';
import { isAddress } from '../media/remote-media.ts';
import { sisterPart } from '../sister-parts.ts';
import { invalid, listAt, objectAt, textAt } from './read.ts';

/** Content of a message or an output: a string is equivalent to one text part. */
export function decodeContent(content: unknown, path: ParamPath, origins: Origins | undefined): Part[] {
  if (typeof content === 'string') {
    if (content === '') return [];
    const part: Part = { type: 'text', text: content };
    origins?.note(part, path);
    return [part];
  }
  return listAt(content, path).map((item, at) => {
    const place = BodyPlace.item(path, at);
    const part = decodePart(objectAt(item, place), place);
    origins?.note(part, place);
    return part;
  });
}

function decodePart(part: JsonObject, path: BodyPlace): Part {
  switch (part.type) {
    // `text` and `summary_text` are parts of other servers' messages.
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: textAt(part, path, 'text') };
    case 'refusal':
      return { type: 'refusal', text: textAt(part, path, 'refusal') };
    case 'input_image':
      return typed(decodeImage(part, path));
    case 'input_file':
      return typed(decodeFile(part, path));
    case 'input_video':
      return located('video', textAt(part, path, 'video_url'), { path: BodyPlace.field(path, 'video_url') });
    default:
      textAt(part, path, 'type');
      return sisterPart(part) ?? { type: 'opaque', format: 'openai-responses', value: part };
  }
}

function decodeImage(part: JsonObject, path: BodyPlace): MediaPart {
  const detail = stringOf(part.detail);
  const id = stringOf(part.file_id);
  if (id !== undefined) return mediaPart('image', file(id), { detail });
  const image = located('image', textAt(part, path, 'image_url'), { path: BodyPlace.field(path, 'image_url') });
  // `auto` is the default of the API.
  return detail === undefined || detail === 'auto' ? image : { ...image, detail };
}

function decodeFile(part: JsonObject, path: BodyPlace): MediaPart {
  const name = stringOf(part.filename);
  const id = stringOf(part.file_id);
  if (id !== undefined) return mediaPart('document', file(id), { name });
  const url = stringOf(part.file_url);
  if (url !== undefined) return located('document', url, { path: BodyPlace.field(path, 'file_url'), name });
  const data = stringOf(part.file_data);
  if (data !== undefined) return located('document', data, { path: BodyPlace.field(path, 'file_data'), name });
  throw new RequestFault(
    'missing_required_parameter',
    `\`${String(path)}\` needs \`file_data\`, \`file_url\` or \`file_id\`.`,
    BodyPlace.field(path, 'file_data'),
  );
}

const file = (id: string): MediaSource => ({ kind: 'file', id });

/** Media by a data URI or an address. A file may also be bare base64. */
function located(
  media: MediaPart['media'],
  text: string,
  { path, name }: { readonly path: BodyPlace; readonly name?: string | undefined },
): MediaPart {
  const byName = name === undefined ? undefined : mimeOfName(name);
  const inline = parseDataUri(text);
  if (inline) {
    const { data, mime = byName, parameters } = inline;
    return mediaPart(media, { kind: 'data', data }, { mime, parameters, name });
  }
  if (isAddress(text)) return mediaPart(media, { kind: 'url', url: text }, { mime: mimeOfUrl(text) ?? byName, name });
  if (media !== 'document') throw invalid(path, 'must be a data URI or a URL');
  return mediaPart(media, { kind: 'data', data: text }, { mime: byName ?? 'application/pdf', name });
}
