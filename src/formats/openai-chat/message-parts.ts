import type { JsonObject, MediaPart, Part, TextPart, Turn } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { takes } from './extensions.ts';
import { RequestFault } from '../faults.ts';
import { refuseForeignFile } from '../media/foreign-files.ts';
import { takesAddress } from './remote-media.ts';
import { audioFormat, extensionOf, mimeOfName, mimeOfUrl, toDataUri } from '../media/media-types.ts';
import { compact } from '../json/object.ts';

export interface MessageDestination {
  readonly path: BodyPlace;
  readonly at: number;
  readonly target: RequestTarget;
  readonly report: LossReport;
  /** True: arguments may be any text, and the server refuses text that is no object. Other clients have objects, or get what they wrote. */
  readonly anyArguments: boolean;
}

/** Joined texts: many servers read only a string there (docs/protocols/messages-route.md#joined-texts). */
export function joined(parts: readonly JsonObject[], between: string): string | undefined {
  const texts = parts.map(({ type, text, ...others }) =>
    type === 'text' && typeof text === 'string' && Object.keys(others).length === 0 ? text : undefined,
  );
  return texts.length > 1 && !texts.includes(undefined) ? texts.join(between) : undefined;
}

export function plainText(parts: readonly JsonObject[]): string | undefined {
  if (parts.length === 0) return '';
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2;
  return plain && typeof only.text === 'string' && only.text !== '' ? only.text : undefined;
}

/** A part of a system or user message. */
export function encodeInput(
  part: Part,
  path: BodyPlace,
  role: Turn['role'],
  place: MessageDestination,
): JsonObject | undefined {
  const { report } = place;
  switch (part.type) {
    case 'text':
      return marked({ type: 'text', text: textOf(part, path, report) }, part, { path, role, place });
    case 'media':
      if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on media.');
      return marked(encodeMedia(part, path, place), part, { path, role, place });
    case 'opaque':
      return part.format === 'openai-chat' ? part.value : loseOpaque(part, path, role, report);
    default:
      return report.unreadable(path, `OpenAI chat has no ${part.type} part in a ${role} message`);
  }
}

export function textOf(part: TextPart, path: BodyPlace, report: LossReport): string {
  if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on text.');
  return part.text;
}

interface Marking {
  readonly path: BodyPlace;
  readonly role: Turn['role'];
  readonly place: MessageDestination;
}

/** OpenAI's cache markers: parts of user messages, no time to live (docs/protocols/openai-chat.md#cache-markers). */
function marked(block: JsonObject, { cache }: TextPart | MediaPart, { path, role, place }: Marking): JsonObject {
  if (!cache) return block;
  const { target, report } = place;
  // A target without Anthropic's marker is OpenAI's own API. Other servers may refuse the newer field.
  if (role !== 'user' || target.host === 'vertex' || takes(target, 'cache_control')) {
    report.dropped(BodyPlace.field(path, 'cache_control'), `No cache markers in ${role} messages of this target.`);
    return block;
  }
  if (cache.ttl)
    report.downgraded(
      BodyPlace.field(path, 'cache_control.ttl'),
      'OpenAI sets the time to live for the whole request.',
    );
  return { ...block, prompt_cache_breakpoint: { mode: 'explicit' } };
}

interface MediaDestination {
  readonly target: RequestTarget;
  readonly report: LossReport;
}

/** Encodes a media part as decode-parts.ts reads it (docs/protocols/openai-chat.md#content-parts). */
function encodeMedia(part: MediaPart, path: BodyPlace, { target, report }: MediaDestination): JsonObject {
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
