import type { Files, GatewayKey } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../../core/kernel/units.ts';
import type { FileLimits } from '../../../core/kernel/index.ts';

/** Where the gateway stores the files of callers, and how much of them. */
export interface FilesSettings {
  /** A folder, or a bucket. */
  readonly place: string | BucketSettings;
  readonly limits: FileLimits;
  readonly url: string | undefined;
  readonly inlineBytes: number;
  readonly idleMs: number;
  readonly uploads: number;
  /** Uploads in pieces of one key that have begun and not ended. */
  readonly unfinished: number;
}

export interface BucketSettings {
  /** `@slug` of the catalog entry whose credentials are used. */
  readonly provider: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly baseUrl: string;
  readonly allowInsecure: boolean;
}

const DEFAULT_LIMITS: FileLimits = {
  maxFileBytes: 512 * 1024 ** 2,
  maxTotalBytes: 4 * 1024 ** 3,
  maxFiles: 1000,
  ttlMs: 720 * 3_600_000,
};

/** The limits that a key has in place of those of server.yaml, or server.yaml in place of the defaults. */
export const compileFileLimits = (files: NonNullable<GatewayKey['files']>): Partial<FileLimits> => ({
  ...(files.max_file_bytes !== undefined && { maxFileBytes: parseBytes(files.max_file_bytes) }),
  ...(files.max_total_bytes !== undefined && { maxTotalBytes: parseBytes(files.max_total_bytes) }),
  ...(files.max_files !== undefined && { maxFiles: files.max_files }),
  ...(files.ttl !== undefined && { ttlMs: parseDuration(files.ttl) }),
});

/** `files` of server.yaml with its defaults: times in milliseconds, sizes in bytes. */
export function compileFiles({ dir, gcs, ...file }: Files): FilesSettings {
  return {
    // The schema ensures one of the two.
    place: gcs ? compileBucket(gcs) : (dir ?? ''),
    limits: { ...DEFAULT_LIMITS, ...compileFileLimits(file) },
    url: file.url,
    inlineBytes: parseBytes(file.inline_bytes ?? '20MiB'),
    idleMs: parseDuration(file.idle_time ?? '30s'),
    uploads: file.uploads ?? 32,
    unfinished: file.unfinished_uploads ?? 16,
  };
}

const compileBucket = (gcs: NonNullable<Files['gcs']>): BucketSettings => ({
  provider: gcs.provider,
  bucket: gcs.bucket,
  prefix: gcs.prefix ?? '',
  baseUrl: gcs.base_url ?? 'https://storage.googleapis.com',
  allowInsecure: gcs.allow_insecure ?? false,
});
