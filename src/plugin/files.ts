import type { Exchange, GatewayContext } from './exchange.ts';
import type { Source } from './reply.ts';

/** What a caller uploads a file for (docs/protocols/files.md#openai). */
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

/** A file whose bytes are the body of a request. */
export interface WholeFile {
  readonly filename: string;
  /** The type that the caller states. */
  readonly declared: string;
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
  /**
   * Stores the file of a request while its body arrives. Throws GatewayError, and then nothing is stored.
   * @param whole given where the file is the whole body. Default: the file of a multipart form.
   */
  upload(ctx: GatewayContext, whole?: WholeFile): Promise<StoredFile>;
  list(exchange: Exchange, query: FileQuery): Promise<FilePage>;
  /** Throws GatewayError `file_not_found`. */
  find(exchange: Exchange, id: string): Promise<StoredFile>;
  content(exchange: Exchange, file: StoredFile): Source;
  remove(exchange: Exchange, id: string): Promise<void>;
}
