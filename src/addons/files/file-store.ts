import type { FilePurpose, StoredFile } from '../../core/kernel/index.ts';

// The stores that the room `files` implements. A store knows owners and their files, and no limits.

/** A file as a listing of its owner's files shows it. */
export type FileEntry = Pick<StoredFile, 'id' | 'bytes' | 'purpose' | 'expiresAt'>;

/** The facts about a file that are known once all of its form has arrived. */
export interface FileDetails {
  readonly filename: string;
  readonly mime: string;
  readonly purpose: FilePurpose;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A file that is being stored. Invisible until it is published. */
export interface FileUpload {
  /** Resolves when the store can take more. Keeps no reference to the bytes afterwards. */
  write(bytes: Buffer): Promise<void>;
  /**
   * Makes the file visible, whole or not at all.
   * @param admit called with the sizes of all files of the owner, this one included, at a moment when every other upload counts it
   * too. If it throws, the file is removed.
   */
  publish(details: FileDetails, admit: (sizes: readonly number[]) => void): Promise<StoredFile>;
  /** Removes what has been stored. Does nothing after `publish`. Never throws. */
  discard(): Promise<void>;
}

/** An upload whose bytes come in several requests, during one of them. */
export interface ContinuedUpload extends FileUpload {
  readonly filename: string;
  readonly declared: string;
  readonly received: number;
  /** The first bytes of the file, as far as they are stored and the last `suspend` has kept them. */
  readonly head: Buffer;
  /** Ends the request's part, for a later `resume`. Returns the bytes that stay: a store may drop the last ones. */
  suspend(head: Buffer): Promise<number>;
}

export interface UnfinishedUpload {
  readonly id: string;
  /** Bytes that are stored; while a request brings more, some of them may not count yet. */
  readonly bytes: number;
}

/** Files by owner. Processes that share the settings share the files and their totals. */
export interface FileStore {
  /** Bytes of an upload that are in memory, at most. 0: it holds only what its connection does. */
  readonly uploadBytes: number;
  /** The owner's files, in the order of their ids. May hold expired files. */
  entries(owner: string): Promise<readonly FileEntry[]>;
  /** Undefined when the file has been removed since. */
  details(owner: string, entry: FileEntry): Promise<StoredFile | undefined>;
  find(owner: string, id: string): Promise<StoredFile | undefined>;
  /** The file's bytes in pieces. Reads the next piece when it is requested. */
  read(owner: string, file: StoredFile): AsyncIterable<Buffer>;
  remove(owner: string, id: string): Promise<boolean>;
  /** @param name the file's name as far as it is known, for its extension */
  begin(owner: string, id: string, name: string): Promise<FileUpload>;
  /** Begins an upload that no request of its own holds open. */
  beginInPieces(owner: string, id: string, of: { readonly filename: string; readonly declared: string }): Promise<void>;
  /** Undefined: there is no such upload, or it has expired. `busy`: another request continues it. */
  resume(owner: string, id: string, now: number): Promise<ContinuedUpload | 'busy' | undefined>;
  /** Bytes of an upload that are stored, also while a request continues it. */
  received(owner: string, id: string, now: number): Promise<number | undefined>;
  /** The owner's uploads that have not ended: those between two requests, and those that requests bring at this moment. */
  unfinished(owner: string): Promise<readonly UnfinishedUpload[]>;
  /** Removes expired files and the remains of uploads that no process continues, and counts the files that stay. */
  sweep(now: number): Promise<SweptStore>;
}

export interface SweptStore {
  readonly removed: number;
  readonly files: number;
  readonly bytes: number;
}

/** The stored files that a request refers to, for targets. */
export interface FileSource {
  /** Address of a file in the form `{files.url}/{id}`, without the id; undefined: only ids are recognised. */
  readonly url: string | undefined;
  /** Maximum bytes of files that one request may carry inline. */
  readonly inlineBytes: number;
  isFileId(text: string): boolean;
  /**
   * Throws GatewayError `file_not_found`.
   * @param media the kind of media that the part holds, for fakes of files
   */
  find(keyId: string | undefined, id: string, media: 'image' | 'audio' | 'video' | 'document'): Promise<StoredFile>;
  readWhole(keyId: string | undefined, file: StoredFile): Promise<Buffer>;
}
