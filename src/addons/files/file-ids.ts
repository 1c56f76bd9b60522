import { hash } from 'node:crypto';
import { STORED_FILE_ID } from '../../formats/fields/vendor-objects.ts';
import { uuidv7 } from '../../core/kernel/ids.ts';

export const newFileId = (wallMs: number): string => `file-gh${uuidv7(wallMs).replaceAll('-', '')}`;

export const isFileId = (text: string): boolean => STORED_FILE_ID.test(text);

/** Milliseconds since 1970 at which the id was made. */
export const createdAt = (id: string): number => Number.parseInt(STORED_FILE_ID.exec(id)?.[1] ?? '0', 16);

/**
 * The folder of a key's files. The digest keeps keys apart that differ only in case, which some file systems ignore.
 */
export const ownerOf = (keyId: string): string => `${keyId.toLowerCase()}.${hash('sha256', keyId, 'hex').slice(0, 16)}`;
