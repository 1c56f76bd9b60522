import type { Files } from '../../../../schemas/types.generated.ts';
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

/** `files` of server.yaml with its defaults: times in milliseconds, sizes in bytes. */
export function compileFiles({ dir, gcs, ...file }: Files): FilesSettings {
  return {
    // The schema ensures one of the two.
    place: gcs ? compileBucket(gcs) : (dir ?? ''),
    limits: {
      maxFileBytes: parseBytes(file.max_file_bytes ?? '512MiB'),
      maxTotalBytes: parseBytes(file.max_total_bytes ?? '4GiB'),
      maxFiles: file.max_files ?? 1000,
      ttlMs: parseDuration(file.ttl ?? '720h'),
    },
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
