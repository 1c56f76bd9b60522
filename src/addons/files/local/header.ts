import type { FileHandle } from 'node:fs/promises';
import { isObject } from '../../../core/kernel/index.ts';

/** JSON before a file's bytes, padded with spaces to a whole block, so that the bytes stay aligned. */
export const HEADER_BYTES = 4096;

export interface Header {
  readonly filename: string;
  readonly mime: string;
}

export async function writeHeader(handle: FileHandle, { filename, mime }: Header): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES, ' ');
  const text = Buffer.from(JSON.stringify({ filename, mime }));
  if (text.length >= HEADER_BYTES) throw new RangeError('the file name is too long for the header');
  text.copy(header);
  header[HEADER_BYTES - 1] = 0x0a;
  await handle.write(header, 0, HEADER_BYTES, 0);
}

export async function readHeader(handle: FileHandle): Promise<Header> {
  const header = Buffer.alloc(HEADER_BYTES);
  await handle.read(header, 0, HEADER_BYTES, 0);
  const json: unknown = JSON.parse(header.toString('utf8'));
  if (!isObject(json) || typeof json['filename'] !== 'string' || typeof json['mime'] !== 'string')
    throw new Error('the header of a stored file is not valid');
  return { filename: json['filename'], mime: json['mime'] };
}
