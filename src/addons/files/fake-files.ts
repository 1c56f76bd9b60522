import { Readable } from 'node:stream';
import type { FileService, StoredFile } from '../../core/kernel/index.ts';
import type { FileSource } from './file-store.ts';
import { createdAt, isFileId } from './file-ids.ts';
import { sourceOfPieces } from './store-failure.ts';
import type { FilesSettings } from './settings/files.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n');

const NEW_ID = `file-gh${'0'.repeat(32)}`;

/** The files of a dry run: every id exists, as one white pixel for an image and as an empty PDF elsewhere. */
export function fakeFiles({ url, inlineBytes, place }: FilesSettings): FileService & FileSource {
  const inCloudStorage = typeof place !== 'string' && 'provider' in place;
  const uri = inCloudStorage ? `gs://${place.bucket}/${place.prefix}` : undefined;
  const fileOf = (id: string, media: string): StoredFile => {
    const isImage = media === 'image';
    const filename = isImage ? 'pixel.png' : 'empty.pdf';
    const mime = isImage ? 'image/png' : 'application/pdf';
    const created = createdAt(id);
    return {
      id,
      filename,
      mime,
      bytes: contentOf(mime).length,
      purpose: 'user_data',
      createdAt: created,
      expiresAt: created,
      ...(uri !== undefined && { uri: `${uri}${id}.${isImage ? 'png' : 'pdf'}` }),
    };
  };
  const contentOf = (mime: string): Buffer => (mime === 'image/png' ? PIXEL : PDF);
  return {
    url,
    inlineBytes,
    isFileId,
    upload: () => Promise.resolve(fileOf(NEW_ID, 'document')),
    inPieces: {
      begin: () => Promise.resolve(NEW_ID),
      add: (_, id, { last }) => Promise.resolve(last ? fileOf(id, 'document') : 0),
      received: () => Promise.resolve(0),
      cancel: () => Promise.resolve(),
    },
    list: () => Promise.resolve({ files: [], hasMore: false }),
    find: (_: unknown, id: string, media: string = 'document') => Promise.resolve(fileOf(id, media)),
    content: (_, { mime }) => sourceOfPieces(Readable.from([contentOf(mime)])),
    readWhole: (_, { mime }) => Promise.resolve(contentOf(mime)),
    remove: () => Promise.resolve(),
  };
}
