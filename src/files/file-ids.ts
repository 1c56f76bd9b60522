import { hash } from 'node:crypto';
import { uuidv7 } from '../plugin/ids.ts';

/**
 * `file-gh` and a UUID of version 7: ids sort by the time of creation, the prefix tells them apart from a vendor's, and 74 random
 * bits cannot be guessed.
 */
const ID = /^file-gh([0-9a-f]{12})[0-9a-f]{20}$/;

export const newFileId = (wallMs: number): string => `file-gh${uuidv7(wallMs).replaceAll('-', '')}`;

export const isFileId = (text: string): boolean => ID.test(text);

/** Milliseconds since 1970 at which the id was made. */
export const createdAt = (id: string): number => Number.parseInt(ID.exec(id)?.[1] ?? '0', 16);

/**
 * The folder of a key's files. The digest keeps keys apart that differ only in case, which some file systems ignore.
 */
export const ownerOf = (keyId: string): string => `${keyId.toLowerCase()}.${hash('sha256', keyId, 'hex').slice(0, 16)}`;
