import type { JsonObject } from '../conversation.ts';
import { bareMime, mediaKind, mimeOfName, mimeOfUrl } from '../media/media-types.ts';
import {
  dataUriOf,
  isAddress,
  mediaIn,
  namesStored,
  writtenPath,
  type FetchedMedia,
  type IsStored,
  type MediaByUrl,
  type RemoteMedia,
  type FileReference,
} from '../media/remote-media.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject } from '../json/object.ts';
import { isGoogleFile } from '../media/foreign-files.ts';
import { takes } from './extensions.ts';

const EXTENSIONS = { document: 'file_url', video: 'video_url', audio: 'audio_url' } as const;

/** OpenAI's own API fetches images; other servers with the API may take any address (docs/protocols/openai-chat.md#media-addresses). */
export const takesAddress = (
  { url, media }: Pick<RemoteMedia, 'url' | 'media'>,
  { extensions }: Pick<RequestTarget, 'extensions'>,
): boolean =>
  !isGoogleFile(url) &&
  (media === 'image' ? extensions?.size !== 0 || /^https?:/i.test(url) : takes({ extensions }, EXTENSIONS[media]));

export const mediaByUrl: MediaByUrl = {
  types: new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf']),
  ownUrlsPass: true,
  fetches: (media, { extensions }) => takesAddress(media, { extensions }),
};

/** Media URLs in user and tool messages: models get no media of their own. The decoder refuses malformed parts. */
export const remoteMedia = (body: JsonObject): readonly RemoteMedia[] => findMedia(body, isAddress);

/** Finds parts that name stored files, in the same places. */
export const storedMedia = (body: JsonObject, isStored: IsStored): readonly FileReference[] =>
  findMedia(body, namesStored(isStored));

type Accepts = (text: unknown) => text is string;

const findMedia = ({ messages }: JsonObject, accepts: Accepts): readonly FileReference[] =>
  mediaIn(messages, ['messages'], ({ role, content }, path) =>
    role !== 'user' && role !== 'tool'
      ? []
      : mediaIn(content, [...path, 'content'], (part, at) => {
          const found = mediaOf(part, accepts);
          if (!found) return [];
          const { key, ...media } = found;
          return [{ ...media, param: writtenPath(at), path: [...at, key] }];
        }),
  );

type FoundMedia = Omit<FileReference, 'param' | 'path'> & { readonly key: string };

function mediaOf(part: JsonObject, accepts: Accepts): FoundMedia | undefined {
  switch (part.type) {
    case 'image_url':
    case 'video_url':
    case 'audio_url':
      return ofUrl(part, part.type, accepts);
    case 'file':
      return ofFile(part.file, accepts);
    default:
      return undefined;
  }
}

const KINDS = { image_url: 'image', video_url: 'video', audio_url: 'audio' } as const;

function ofUrl(part: JsonObject, key: keyof typeof KINDS, accepts: Accepts): FoundMedia | undefined {
  const holder = part[key];
  const { url, ...others } = isObject(holder) ? holder : { url: holder };
  if (!accepts(url)) return undefined;
  const mime = explicitMime(others) ?? mimeOfUrl(url);
  return {
    key,
    url,
    mime,
    media: mime === undefined ? KINDS[key] : mediaKind(mime),
    embed: (content) => ({ ...withoutType(others), url: dataUriOf(content) }),
    link: (uri, type) => ({ ...withoutType(others), url: uri, mime_type: type }),
  };
}

function ofFile(file: unknown, accepts: Accepts): FoundMedia | undefined {
  if (!isObject(file) || file.file_data !== undefined) return undefined;
  const { file_url: address, file_id: id, ...others } = file;
  // A Google file id is a URL (docs/protocols/requests.md#file-id).
  const url = address ?? id;
  if (!accepts(url)) return undefined;
  const name = typeof file.filename === 'string' ? mimeOfName(file.filename) : undefined;
  const mime = explicitMime(others) ?? mimeOfUrl(url) ?? name;
  return {
    key: 'file',
    url,
    mime,
    media: mime === undefined ? 'document' : mediaKind(mime),
    embed: (content) => ({ ...named(content), ...withoutType(others), file_data: dataUriOf(content) }),
    link: (uri, type) => ({ ...withoutType(others), file_url: uri, mime_type: type }),
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

/** OpenAI refuses `file_data` without a name (docs/protocols/files.md#inline). */
const named = ({ name }: FetchedMedia): JsonObject => (name === undefined ? {} : { filename: name });
