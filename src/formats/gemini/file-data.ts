import type { JsonObject } from '../conversation.ts';
import { isObject, stringOf } from '../json/object.ts';
import { isAddress, type FileReference, type IsStored, type RemoteMedia } from '../media/remote-media.ts';
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

function findMedia(body: JsonObject, read: ReadUri): readonly FileReference[] {
  const { contents } = body;
  if (!Array.isArray(contents)) return [];
  return contents.flatMap((content: unknown, at) => {
    const parts = isObject(content) ? content['parts'] : undefined;
    if (!Array.isArray(parts)) return [];
    return parts.flatMap((part: unknown, index) => (isObject(part) ? referenceIn(part, [at, index], read) : []));
  });
}

function referenceIn(
  part: JsonObject,
  [at, index]: readonly [number, number],
  read: ReadUri,
): readonly FileReference[] {
  const data = pick(part, 'fileData');
  const uri = isObject(data) ? stringOf(pick(data, 'fileUri')) : undefined;
  if (uri === undefined || !isObject(data)) return [];
  const found = read(uri);
  if (found === undefined) return [];
  const mime = stringOf(pick(data, 'mimeType'));
  const rest = Object.fromEntries(Object.entries(part).filter(([name]) => !FILE_DATA.has(name)));
  return [
    {
      param: `contents[${at}].parts[${index}].fileData`,
      url: found,
      media: mediaKind(mime ?? ''),
      mime,
      path: ['contents', at, 'parts', index],
      embed: ({ mime: mimeType, data: bytes }) => ({
        ...rest,
        inlineData: { mimeType, data: bytes.toString('base64') },
      }),
      link: (fileUri, mimeType) => ({ ...rest, fileData: { mimeType, fileUri } }),
    },
  ];
}
