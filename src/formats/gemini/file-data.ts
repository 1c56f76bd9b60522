import type { JsonObject } from '../conversation.ts';
import { isObject, stringOf } from '../json/object.ts';
import {
  isAddress,
  mediaIn,
  writtenPath,
  type FileReference,
  type IsStored,
  type MediaPath,
  type RemoteMedia,
} from '../media/remote-media.ts';
import { mediaKind } from '../media/media-types.ts';
import { bothSpellings, pick } from './wire.ts';

const FILE_DATA = bothSpellings('fileData');

/** Parts whose `fileData` names a stored file: by its address, which ends with the file's id, by its name, or by the id. */
export const storedMedia = (body: JsonObject, isStored: IsStored): readonly FileReference[] =>
  findMedia(body, (uri) => [uri, uri.slice(uri.lastIndexOf('/') + 1)].find(isStored));

/** Parts whose `fileData` has an address. */
export const remoteMedia = (body: JsonObject): readonly RemoteMedia[] =>
  findMedia(body, (uri) => (isAddress(uri) ? uri : undefined));

/** Returns the address or the id, if it is one to be found. */
type ReadUri = (uri: string) => string | undefined;

const findMedia = ({ contents }: JsonObject, read: ReadUri): readonly FileReference[] =>
  mediaIn(contents, ['contents'], (content, at) =>
    mediaIn(content['parts'], [...at, 'parts'], (part, path) => referenceIn(part, path, read)),
  );

function referenceIn(part: JsonObject, path: MediaPath, read: ReadUri): readonly FileReference[] {
  const data = pick(part, 'fileData');
  const uri = isObject(data) ? stringOf(pick(data, 'fileUri')) : undefined;
  if (uri === undefined || !isObject(data)) return [];
  const found = read(uri);
  if (found === undefined) return [];
  const mime = stringOf(pick(data, 'mimeType'));
  const rest = Object.fromEntries(Object.entries(part).filter(([name]) => !FILE_DATA.has(name)));
  return [
    {
      param: `${writtenPath(path)}.fileData`,
      url: found,
      media: mediaKind(mime ?? ''),
      mime,
      path,
      embed: ({ mime: mimeType, data: bytes }) => ({
        ...rest,
        inlineData: { mimeType, data: bytes.toString('base64') },
      }),
      link: (fileUri, mimeType) => ({ ...rest, fileData: { mimeType, fileUri } }),
    },
  ];
}
