import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import { FILE_PURPOSES, type FilePurpose } from '../../../core/kernel/index.ts';
import type { FileEntry } from '../file-store.ts';
import { isFileId } from '../file-ids.ts';

/** `ID.SIZE.EXPIRY.PURPOSE`, in base 36 and seconds: a listing of the folder gives all sizes and expiries. */
export const nameOf = ({ id, bytes, expiresAt, purpose }: FileEntry): string =>
  `${id}.${bytes.toString(36)}.${Math.floor(expiresAt / 1000).toString(36)}.${purpose}`;

export function readName(name: string): FileEntry | undefined {
  const [id = '', size = '', expiry = '', purpose, extra] = name.split('.');
  if (extra !== undefined || !isFileId(id) || !isPurpose(purpose)) return undefined;
  const [bytes, seconds] = [Number.parseInt(size, 36), Number.parseInt(expiry, 36)];
  return Number.isSafeInteger(bytes) && Number.isSafeInteger(seconds)
    ? { id, bytes, expiresAt: seconds * 1000, purpose }
    : undefined;
}

const isPurpose = (text: string | undefined): text is FilePurpose => FILE_PURPOSES.some((one) => one === text);

/** A complete file that is not visible yet: its size counts already. */
const PENDING = '.pending.';
/** A file that is being written, followed by host, process and id. */
const PARTIAL = '.partial.';
/** A file between two requests that bring pieces of it, followed by its id. */
const UPLOAD = '.upload.';

export const pendingName = (name: string): string => PENDING + name;

export const pendingEntry = (name: string): FileEntry | undefined =>
  name.startsWith(PENDING) ? readName(name.slice(PENDING.length)) : undefined;

export const isUnfinished = (name: string): boolean =>
  [PENDING, PARTIAL, UPLOAD].some((prefix) => name.startsWith(prefix));

export const uploadName = (id: string): string => UPLOAD + id;

/** The id of a file that some process is writing, or that rests between two requests; undefined for other names. */
export const unfinishedId = (name: string): string | undefined =>
  name.startsWith(PARTIAL) ? name.slice(name.lastIndexOf('.') + 1) : uploadId(name);

/** Undefined for other names. */
export const uploadId = (name: string): string | undefined =>
  name.startsWith(UPLOAD) ? name.slice(UPLOAD.length) : undefined;

/** True for the file with this id that some process is writing. */
export const isPartialOf = (name: string, id: string): boolean => name.startsWith(PARTIAL) && name.endsWith(`.${id}`);

/** Distinguishes this process from an earlier one with the same id, as the only process of a container has. */
const LIFE = randomBytes(4).toString('hex');
const HOST = hostname().replaceAll(/[^A-Za-z0-9-]/g, '-');

export const partialName = (id: string): string => `${PARTIAL}${HOST}.${process.pid}.${LIFE}.${id}`;

/** True if the process that was writing this file has certainly ended. */
export function isAbandoned(name: string): boolean {
  const [, , host, pid, life] = name.split('.');
  if (!name.startsWith(PARTIAL) || host !== HOST) return false;
  return Number(pid) === process.pid ? life !== LIFE : !isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
