import type { JsonObject } from '../conversation.ts';
import {
  isAddress,
  mediaIn,
  writtenPath,
  type FetchedMedia,
  type IsStored,
  type MediaByUrl,
  type MediaPath,
  type RemoteMedia,
  type FileReference,
} from '../media/remote-media.ts';
import { isObject } from '../json/object.ts';
import { isGoogleFile } from '../media/foreign-files.ts';
import { bareMime } from '../media/media-types.ts';

/** Image types that Claude reads (docs/protocols/anthropic-messages.md#sources). */
export const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
export const PDF_TYPE = 'application/pdf';
const TEXT_TYPE = 'text/plain';

/**
 * The direct API fetches PDFs by https itself (docs/protocols/anthropic-messages.md#sources,
 * docs/protocols/requests.md#http-media). It can fetch images too, but this gateway promises base64 for them, unless the
 * operator lets URLs pass; a caller who writes `source.url` in a body of this format requests the URL. Vertex AI never fetches
 * (docs/protocols/vertex-ai.md#claude-features-not-served).
 */
export const mediaByUrl: MediaByUrl = {
  types: new Set([...IMAGE_TYPES, PDF_TYPE, TEXT_TYPE]),
  fetches({ url, media, mime }, { host, native, pass = false }) {
    if (host !== 'direct' || !/^https?:/i.test(url) || isGoogleFile(url)) return false;
    if (media === 'image') return native || pass;
    // A document by URL is a PDF (docs/protocols/anthropic-messages.md#sources); a document whose URL has no known extension may be one.
    return media === 'document' && (mime === undefined || bareMime(mime) === PDF_TYPE);
  },
};

/** Images and documents by URL, including those inside results and documents. The decoder refuses malformed content. */
export const remoteMedia = (body: JsonObject): readonly RemoteMedia[] =>
  findMedia(body, ({ type, url }) => (type === 'url' && isAddress(url) ? url : undefined));

/** Images and documents that name a stored file: by id, or by URL. */
export const storedMedia = (body: JsonObject, isStored: IsStored): readonly FileReference[] =>
  findMedia(body, ({ type, url, file_id: id }) => {
    const text = type === 'url' ? url : type === 'file' ? id : undefined;
    return typeof text === 'string' && isStored(text) ? text : undefined;
  });

/** Returns the address or the id that a source names, if it is one to be found. */
type ReadSource = (source: JsonObject) => string | undefined;

const findMedia = ({ messages }: JsonObject, read: ReadSource): readonly FileReference[] =>
  mediaIn(messages, ['messages'], ({ content }, path) => inBlocks(content, [...path, 'content'], read));

const inBlocks = (content: unknown, path: MediaPath, read: ReadSource): readonly FileReference[] =>
  mediaIn(content, path, (block, at) => inBlock(block, at, read));

function inBlock(block: JsonObject, path: MediaPath, read: ReadSource): readonly FileReference[] {
  if (block.type === 'tool_result') return inBlocks(block.content, [...path, 'content'], read);
  if (block.type !== 'image' && block.type !== 'document') return [];
  const { source } = block;
  if (!isObject(source)) return [];
  if (source.type === 'content') return inBlocks(source.content, [...path, 'source', 'content'], read);
  const url = read(source);
  if (url === undefined) return [];
  const media = block.type;
  return [
    {
      param: writtenPath(path),
      url,
      media,
      // A document by URL is always a PDF (docs/protocols/anthropic-messages.md#sources); only the server knows the type of an image.
      mime: media === 'document' ? PDF_TYPE : undefined,
      path: [...path, 'source'],
      embed: media === 'image' ? embedImage : embedDocument,
      link: (uri) => ({ type: 'url', url: uri }),
    },
  ];
}

function embedImage({ mime, data }: FetchedMedia): JsonObject | undefined {
  return IMAGE_TYPES.has(mime) ? { type: 'base64', media_type: mime, data: data.toString('base64') } : undefined;
}

function embedDocument({ mime, data }: FetchedMedia): JsonObject | undefined {
  if (mime === PDF_TYPE) return { type: 'base64', media_type: mime, data: data.toString('base64') };
  return mime === TEXT_TYPE ? { type: 'text', media_type: mime, data: data.toString('utf8') } : undefined;
}
