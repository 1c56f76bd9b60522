import type { Exchange, GatewayContext } from './exchange.ts';
import type { Source } from '../../plugin/reply.ts';

/** The purpose for which a caller uploads a file (docs/protocols/files.md#openai). */
export const FILE_PURPOSES = ['user_data', 'assistants', 'batch', 'vision'] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];

/** A file that a caller has uploaded. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  readonly bytes: number;
  readonly purpose: FilePurpose;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Address at which a provider reads the file itself: `gs://bucket/object`. Undefined for a file in a local folder. */
  readonly uri?: string | undefined;
}

/** Facts that a caller gives of a file before it sends any of it. */
export interface AnnouncedFile {
  readonly filename: string;
  /** The type that the caller states. */
  readonly declared: string;
  readonly bytes: number | undefined;
}

/** Every piece except the last is a multiple of it: Cloud Storage keeps no others (docs/protocols/files.md#cloud-storage). */
export const PIECE_UNIT = 256 * 1024;

/** The longest life of an upload in pieces. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/** The parameter of the address of an upload in pieces that has its id. */
export const UPLOAD_ID = 'upload_id';

/** The next bytes of a file, which are the body of a request. */
export interface FilePiece {
  /** Where in the file they begin. */
  readonly offset: number;
  /** The file ends with them. */
  readonly last: boolean;
}

/** A file whose bytes come in several requests. Unfinished uploads of a key are limited in number, bytes and time. */
export interface UploadsInPieces {
  /** The upload's id, which is the file's later. Throws GatewayError. */
  begin(exchange: Exchange, file: AnnouncedFile): Promise<string>;
  /**
   * Stores a piece. Returns the file behind its last one, else the bytes stored. Throws GatewayError; what has arrived of
   * an interrupted piece stays, and what no further piece can mend is removed.
   */
  add(ctx: GatewayContext, id: string, piece: FilePiece): Promise<StoredFile | number>;
  /** The bytes that are stored, or the file of an upload that has ended. */
  received(exchange: Exchange, id: string): Promise<StoredFile | number>;
  cancel(exchange: Exchange, id: string): Promise<void>;
}

export interface FileQuery {
  readonly purpose?: FilePurpose | undefined;
  readonly limit: number;
  /** Id after which, or before which, the page lies; the file may no longer exist. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly newestFirst: boolean;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** The files of callers. Each caller sees only its own; the file of another caller does not exist for it. */
export interface FileService {
  /** Stores the file of a multipart form while it arrives. Throws GatewayError, and then nothing is stored. */
  upload(ctx: GatewayContext): Promise<StoredFile>;
  readonly inPieces: UploadsInPieces;
  list(exchange: Exchange, query: FileQuery): Promise<FilePage>;
  /** Throws GatewayError `file_not_found`. */
  find(exchange: Exchange, id: string): Promise<StoredFile>;
  content(exchange: Exchange, file: StoredFile): Source;
  remove(exchange: Exchange, id: string): Promise<void>;
}
