import type { CacheMarker, JsonObject, MediaPart, MediaSource, Part } from './conversation.ts';
import { compact, objectOf, stringOf } from './json/object.ts';
import { audioMime, mediaPart, mimeOfName, mimeOfUrl, parseDataUri, typed } from './media/media-types.ts';
import { isAddress } from './media/remote-media.ts';

interface SisterMedia {
  readonly kind: MediaPart['media'];
  /** A data URI, an address, or the base64 of a file. */
  readonly at?: unknown;
  readonly id?: unknown;
  readonly mime?: unknown;
  readonly name?: unknown;
  readonly detail?: unknown;
}

/** The parts of each API by their type, which no other API has for something else. */
const READERS: Readonly<Record<string, (part: JsonObject) => Part | undefined>> = {
  text: textPart,
  input_text: textPart,
  output_text: textPart,
  image_url: ({ image_url: image, detail }) =>
    sisterMedia({ kind: 'image', at: objectOf(image)?.url ?? image, detail: objectOf(image)?.detail ?? detail }),
  input_image: ({ image_url: image, file_id: id, detail }) =>
    sisterMedia({ kind: 'image', at: objectOf(image)?.url ?? image, id, detail }),
  file: ({ file }) => filePart(objectOf(file) ?? {}),
  input_file: filePart,
  input_audio: ({ input_audio: audio }) => audioPart(objectOf(audio) ?? {}),
  image: ({ source }) => sourcePart('image', objectOf(source) ?? {}, undefined),
  document: ({ source, title }) => sourcePart('document', objectOf(source) ?? {}, title),
};

/**
 * A part of a message in the form of another API: clients mix them (docs/protocols/requests.md#parts-of-other-apis). Undefined for a
 * part that no API has, or that lacks its content.
 */
export function sisterPart(part: JsonObject): Part | undefined {
  const { type } = part;
  const read = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type]?.(part) : undefined;
  const marker = objectOf(part.cache_control);
  if (!read || !marker) return read;
  const cache: CacheMarker = compact({ type: 'ephemeral' as const, ttl: stringOf(marker.ttl) });
  return { ...read, cache } as Part;
}

function textPart({ text }: JsonObject): Part | undefined {
  return typeof text === 'string' ? { type: 'text', text } : undefined;
}

function filePart({
  file_data: data,
  file_url: url,
  file_id: id,
  filename: name,
  mime_type: mime,
}: JsonObject): Part | undefined {
  return sisterMedia({ kind: 'document', at: data ?? url, id, name, mime });
}

function audioPart({ data, format }: JsonObject): Part | undefined {
  const name = stringOf(format);
  if (typeof data !== 'string' || name === undefined) return undefined;
  const mime = audioMime(name) ?? `audio/${name}`;
  return { type: 'media', media: 'audio', mime, source: { kind: 'data', data: parseDataUri(data)?.data ?? data } };
}

function sourcePart(kind: 'image' | 'document', source: JsonObject, name: unknown): Part | undefined {
  const { type, media_type: mime, data, url, file_id: id } = source;
  if (type === 'text' && typeof data === 'string')
    return { ...mediaPart(kind, { kind: 'text', text: data }, { name: stringOf(name) }), mime: 'text/plain' };
  if (type === 'base64' && typeof data === 'string') {
    const part = mediaPart(kind, { kind: 'data', data }, { name: stringOf(name) });
    return typed(typeof mime === 'string' ? { ...part, mime } : part);
  }
  // A document by URL is a PDF (docs/protocols/anthropic-messages.md#sources).
  const pdf = kind === 'document' && type === 'url' ? 'application/pdf' : undefined;
  return sisterMedia({ kind, at: url, id, name, mime: mime ?? pdf });
}

function sisterMedia({ kind, at, id, ...given }: SisterMedia): MediaPart | undefined {
  const name = stringOf(given.name);
  const byName = name === undefined ? undefined : mimeOfName(name);
  const stated = stringOf(given.mime);
  const inline = typeof at === 'string' ? parseDataUri(at) : undefined;
  const detail = given.detail === 'auto' ? undefined : stringOf(given.detail);
  const part = (source: MediaSource, mime: string | undefined, parameters?: string): MediaPart =>
    typed(mediaPart(kind, source, { mime, parameters, name, detail }));
  if (inline) return part({ kind: 'data', data: inline.data }, stated ?? inline.mime ?? byName, inline.parameters);
  if (isAddress(at)) return part({ kind: 'url', url: at }, stated ?? mimeOfUrl(at) ?? byName);
  if (typeof at === 'string' && kind === 'document')
    return part({ kind: 'data', data: at }, stated ?? byName ?? 'application/pdf');
  return typeof id === 'string' ? part({ kind: 'file', id }, stated ?? byName) : undefined;
}
