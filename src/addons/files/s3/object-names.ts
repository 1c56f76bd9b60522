import { FILE_PURPOSES, type FilePurpose } from '../../../core/kernel/index.ts';
import type { FileEntry } from '../file-store.ts';
import { isFileId } from '../file-ids.ts';

// Names of objects, behind the prefix: `OWNER/ID.…`. A listing of S3 shows no metadata, so a name has what a listing of files needs.

/** `OWNER/ID.PURPOSE.EXPIRY`, in base 36. */
export const fileName = (owner: string, { id, purpose, expiresAt }: Omit<FileEntry, 'bytes'>): string =>
  `${owner}/${id}.${purpose}.${expiresAt.toString(36)}`;

/** A complete file that is not visible yet: its size counts already. */
export const pendingName = (owner: string, id: string): string => `${owner}/${id}.pending`;

/** The state of an upload between two requests: a listing counts its bytes. */
export const stateName = (owner: string, id: string, received: number): string =>
  `${owner}/${id}.upload.${received.toString(36)}`;

export type NamedObject =
  | { readonly kind: 'file'; readonly id: string; readonly purpose: FilePurpose; readonly expiresAt: number }
  | { readonly kind: 'pending'; readonly id: string }
  | { readonly kind: 'state'; readonly id: string; readonly received: number };

/** Undefined for objects that are not of this gateway. */
export function readObjectName(name: string): NamedObject | undefined {
  const [id = '', kind = '', number, extra] = name.slice(name.lastIndexOf('/') + 1).split('.', 4);
  if (!isFileId(id) || extra !== undefined) return undefined;
  if (number === undefined) return kind === 'pending' ? { kind, id } : undefined;
  const value = /^[\da-z]{1,10}$/.test(number) ? Number.parseInt(number, 36) : NaN;
  if (Number.isNaN(value)) return undefined;
  if (kind === 'upload') return { kind: 'state', id, received: value };
  const purpose = FILE_PURPOSES.find((one) => one === kind);
  return purpose && { kind: 'file', id, purpose, expiresAt: value };
}
