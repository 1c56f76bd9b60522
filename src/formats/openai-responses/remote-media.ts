import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';
import { toDataUri, mediaKind, mimeOfName, mimeOfUrl } from '../media/media-types.ts';
import {
  isAddress,
  type FetchedMedia,
  type FileReference,
  type IsStored,
  type RemoteMedia,
} from '../media/remote-media.ts';

type PartPath = RemoteMedia['path'];
type AcceptsAddress = (value: unknown) => value is string;

/** Images and files by URL, in messages and in outputs. The decoder refuses malformed content. */
export const remoteMedia = (body: JsonObject): readonly RemoteMedia[] => findMedia(body, isAddress);

/** Images and files that name a stored file, by id or by URL. */
export const storedMedia = (body: JsonObject, isStored: IsStored): readonly FileReference[] =>
  findMedia(body, (value): value is string => typeof value === 'string' && isStored(value));

function findMedia({ input }: JsonObject, accepts: AcceptsAddress): readonly FileReference[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown, at) =>
    isObject(item)
      ? [
          ...inParts(item.content, ['input', at, 'content'], accepts),
          ...inParts(item.output, ['input', at, 'output'], accepts),
        ]
      : [],
  );
}

function inParts(parts: unknown, path: PartPath, accepts: AcceptsAddress): FileReference[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown, at) => {
    const found = isObject(part) ? inPart(part, [...path, at], accepts) : undefined;
    return found ? [found] : [];
  });
}

function inPart(part: JsonObject, path: PartPath, accepts: AcceptsAddress): FileReference | undefined {
  if (part.type === 'input_image') {
    const { image_url: address, file_id: id, ...others } = part;
    const url = address ?? id;
    if (!accepts(url)) return undefined;
    const link = (uri: string): JsonObject => ({ ...others, image_url: uri });
    const embed = (content: FetchedMedia): JsonObject => link(dataUri(content));
    return { param: written(path), url, media: 'image', mime: mimeOfUrl(url), path, embed, link };
  }
  if (part.type !== 'input_file' || part.file_data !== undefined) return undefined;
  const { file_url: address, file_id: id, ...others } = part;
  const url = address ?? id;
  if (!accepts(url)) return undefined;
  const mime = mimeOfUrl(url) ?? (typeof part.filename === 'string' ? mimeOfName(part.filename) : undefined);
  return {
    param: written(path),
    url,
    media: mime === undefined ? 'document' : mediaKind(mime),
    mime,
    path,
    embed: (content) => ({
      ...(content.name !== undefined && { filename: content.name }),
      ...others,
      file_data: dataUri(content),
    }),
    link: (uri) => ({ ...others, file_url: uri }),
  };
}

const dataUri = ({ mime, data }: FetchedMedia): string => toDataUri(mime, data.toString('base64'));

/** `input[0].content[1]`, as all errors write it. */
const written = (path: PartPath): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
