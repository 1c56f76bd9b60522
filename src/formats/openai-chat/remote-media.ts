import type { JsonObject } from '../conversation.ts';
import { bareMime, mediaKind, mimeOfName, mimeOfUrl, toDataUri } from '../media/media-types.ts';
import { isAddress, type FetchedMedia, type RemoteMedia } from '../media/remote-media.ts';
import { isObject } from '../json/object.ts';

/**
 * Finds media URLs in user and tool messages. Models get no media of their own, so assistant messages are skipped. The
 * decoder refuses malformed parts.
 */
export function remoteMedia({ messages }: JsonObject): readonly RemoteMedia[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown, turn) => {
    if (!isObject(message) || !Array.isArray(message.content)) return [];
    if (message.role !== 'user' && message.role !== 'tool') return [];
    return message.content.flatMap((part: unknown, at): RemoteMedia[] => {
      const found = isObject(part) ? mediaOf(part) : undefined;
      if (!found) return [];
      const { key, ...media } = found;
      return [{ ...media, param: `messages[${turn}].content[${at}]`, path: ['messages', turn, 'content', at, key] }];
    });
  });
}

type FoundMedia = Omit<RemoteMedia, 'param' | 'path'> & { readonly key: string };

function mediaOf(part: JsonObject): FoundMedia | undefined {
  switch (part.type) {
    case 'image_url':
    case 'video_url':
    case 'audio_url':
      return ofUrl(part, part.type);
    case 'file':
      return ofFile(part.file);
    default:
      return undefined;
  }
}

const KINDS = { image_url: 'image', video_url: 'video', audio_url: 'audio' } as const;

function ofUrl(part: JsonObject, key: keyof typeof KINDS): FoundMedia | undefined {
  const holder = part[key];
  const { url, ...others } = isObject(holder) ? holder : { url: holder };
  if (!isAddress(url)) return undefined;
  const mime = explicitMime(others) ?? mimeOfUrl(url);
  return {
    key,
    url,
    mime,
    media: mime === undefined ? KINDS[key] : mediaKind(mime),
    embed: (content) => ({ ...withoutType(others), url: dataUri(content) }),
  };
}

function ofFile(file: unknown): FoundMedia | undefined {
  if (!isObject(file) || file.file_data !== undefined) return undefined;
  const { file_url: address, file_id: id, ...others } = file;
  // A Google file id is a URL (docs/protocols/requests.md#file-id).
  const url = address ?? id;
  if (!isAddress(url)) return undefined;
  const name = typeof file.filename === 'string' ? mimeOfName(file.filename) : undefined;
  const mime = explicitMime(others) ?? mimeOfUrl(url) ?? name;
  return {
    key: 'file',
    url,
    mime,
    media: mime === undefined ? 'document' : mediaKind(mime),
    embed: (content) => ({ ...withoutType(others), file_data: dataUri(content) }),
  };
}

function explicitMime({ mime_type: mime, format }: JsonObject): string | undefined {
  if (typeof mime === 'string' && mime !== '') return bareMime(mime);
  if (typeof format !== 'string' || format === '') return undefined;
  return format.includes('/') ? bareMime(format) : mimeOfName(`.${format}`);
}

/** Removes the caller's type: the type of the fetched bytes is known, and an explicit type would override it. */
function withoutType({ mime_type: _, format: __, ...others }: JsonObject): JsonObject {
  return others;
}

const dataUri = ({ mime, data }: FetchedMedia): string => toDataUri(mime, data.toString('base64'));
