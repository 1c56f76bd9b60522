import type { JsonObject } from '../conversation.ts';
import { mediaKind, mimeOfName, mimeOfUrl } from '../media/media-types.ts';
import {
  dataUriOf,
  isAddress,
  mediaIn,
  namesStored,
  writtenPath,
  type FetchedMedia,
  type FileReference,
  type IsStored,
  type MediaPath,
  type RemoteMedia,
} from '../media/remote-media.ts';

type AcceptsAddress = (value: unknown) => value is string;

/** Images and files by URL, in messages and in outputs. The decoder refuses malformed content. */
export const remoteMedia = (body: JsonObject): readonly RemoteMedia[] => findMedia(body, isAddress);

/** Images and files that name a stored file, by id or by URL. */
export const storedMedia = (body: JsonObject, isStored: IsStored): readonly FileReference[] =>
  findMedia(body, namesStored(isStored));

const findMedia = ({ input }: JsonObject, accepts: AcceptsAddress): readonly FileReference[] =>
  mediaIn(input, ['input'], (item, at) =>
    ['content', 'output'].flatMap((key) =>
      mediaIn(item[key], [...at, key], (part, path) => inPart(part, path, accepts)),
    ),
  );

function inPart(part: JsonObject, path: MediaPath, accepts: AcceptsAddress): readonly FileReference[] {
  if (part.type === 'input_image') {
    const { image_url: address, file_id: id, ...others } = part;
    const url = address ?? id;
    if (!accepts(url)) return [];
    const link = (uri: string): JsonObject => ({ ...others, image_url: uri });
    const embed = (content: FetchedMedia): JsonObject => link(dataUriOf(content));
    return [{ param: writtenPath(path), url, media: 'image', mime: mimeOfUrl(url), path, embed, link }];
  }
  if (part.type !== 'input_file' || part.file_data !== undefined) return [];
  const { file_url: address, file_id: id, ...others } = part;
  const url = address ?? id;
  if (!accepts(url)) return [];
  const mime = mimeOfUrl(url) ?? (typeof part.filename === 'string' ? mimeOfName(part.filename) : undefined);
  const embed = (content: FetchedMedia): JsonObject => ({
    ...(content.name !== undefined && { filename: content.name }),
    ...others,
    file_data: dataUriOf(content),
  });
  const link = (uri: string): JsonObject => ({ ...others, file_url: uri });
  const media = mime === undefined ? 'document' : mediaKind(mime);
  return [{ param: writtenPath(path), url, media, mime, path, embed, link }];
}
