import { CHUNK } from './bucket-upload.ts';
import type { ContinuedUpload, FileEntry, FileStore } from './file-store.ts';

interface Pieces extends Pick<FileStore, 'received'> {
  readonly begin: FileStore['beginInPieces'];
  resume(owner: string, id: string, now: number): Promise<ContinuedUpload | undefined>;
}

/** The memory of uploads to a bucket, and those that come in pieces. */
export abstract class BucketStore implements Pick<FileStore, 'uploadBytes' | 'beginInPieces' | 'resume' | 'received'> {
  readonly uploadBytes = CHUNK;
  protected abstract readonly pieces: Pieces;

  beginInPieces(...args: Parameters<FileStore['beginInPieces']>): Promise<void> {
    return this.pieces.begin(...args);
  }

  resume(owner: string, id: string, now: number): Promise<ContinuedUpload | undefined> {
    return this.pieces.resume(owner, id, now);
  }

  received(owner: string, id: string, now: number): Promise<number | undefined> {
    return this.pieces.received(owner, id, now);
  }
}

export const inOrder = <File extends FileEntry>(files: readonly File[]): readonly File[] =>
  files.toSorted((a, b) => (a.id < b.id ? -1 : 1));
