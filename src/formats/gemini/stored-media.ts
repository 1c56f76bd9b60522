import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';
import { stringOf } from '../json/read.ts';
import type { FileReference, IsStored } from '../media/remote-media.ts';
import { mediaKind } from '../media/media-types.ts';
import { bothSpellings, pick } from './wire.ts';

const FILE_DATA = bothSpellings('fileData');

/** Parts whose `fileData` names a stored file: by its address, which ends with the file's id, by its name, or by the id. */
export function storedMedia(body: JsonObject, isStored: IsStored): readonly FileReference[] {
  const { contents } = body;
  if (!Array.isArray(contents)) return [];
  return contents.flatMap((content: unknown, at) => {
    const parts = isObject(content) ? content['parts'] : undefined;
    if (!Array.isArray(parts)) return [];
    return parts.flatMap((part: unknown, index) => (isObject(part) ? referenceIn(part, [at, index], isStored) : []));
  });
}

function referenceIn(
  part: JsonObject,
  [at, index]: readonly [number, number],
  isStored: IsStored,
): readonly FileReference[] {
  const data = pick(part, 'fileData');
  const uri = isObject(data) ? stringOf(pick(data, 'fileUri')) : undefined;
  if (uri === undefined || !isObject(data)) return [];
  const id = uri.slice(uri.lastIndexOf('/') + 1);
  const found = [uri, id].find(isStored);
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
