import { hash } from 'node:crypto';
import { STORED_FILE_ID } from '../../formats/fields/vendor-objects.ts';
import { uuidv7 } from '../../core/kernel/ids.ts';
import { UPLOAD_LIFE_MS } from '../../core/kernel/index.ts';

export const newFileId = (wallMs: number): string => `file-gh${uuidv7(wallMs).replaceAll('-', '')}`;

export const isFileId = (text: string): boolean => STORED_FILE_ID.test(text);

/** Milliseconds since 1970 at which the id was made. */
export const createdAt = (id: string): number => Number.parseInt(STORED_FILE_ID.exec(id)?.[1] ?? '0', 16);

/** The folder of a key's files. The digest tells keys apart that differ only in case. */
export const ownerOf = (keyId: string): string => `${keyId.toLowerCase()}.${hash('sha256', keyId, 'hex').slice(0, 16)}`;

/** An upload in pieces whose client sends nothing for this long is removed. */
const IDLE_MS = 60 * 60 * 1000;

/** Whether an upload in pieces has ended. @param touchedAt when the last of its bytes was stored */
export const isOver = (id: string, touchedAt: number, now: number): boolean =>
  now - touchedAt > IDLE_MS || now - createdAt(id) > UPLOAD_LIFE_MS;

/** Longest file name, in characters; file systems and headers have similar limits. */
const MAX_NAME = 255;

/** Base name without control characters: it returns in JSON and in a header. */
export function cleanName(filename: string | undefined): string {
  const base = (filename ?? '').split(/[\\/]/).at(-1)!;
  const clean = base
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, '')
    .toWellFormed()
    .trim();
  const letters = [...clean];
  const name = letters.length <= MAX_NAME ? clean : letters.slice(-MAX_NAME).join('');
  return name === '' || name === '.' || name === '..' ? 'unnamed' : name;
}
