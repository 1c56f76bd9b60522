import type { Files, FilesGcs, FilesS3, GatewayKey } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../../core/kernel/units.ts';
import type { FileLimits } from '../../../core/kernel/index.ts';
import type { S3Credentials } from '../s3/sign.ts';

export interface FilesSettings {
  readonly place: string | GcsSettings | S3Settings;
  readonly limits: FileLimits;
  readonly url: string | undefined;
  readonly inlineBytes: number;
  readonly idleMs: number;
  readonly uploads: number;
  /** Uploads in pieces of one key that have begun and not ended. */
  readonly unfinished: number;
}

interface BucketSettings {
  readonly bucket: string;
  readonly prefix: string;
  readonly allowInsecure: boolean;
}

export interface GcsSettings extends BucketSettings {
  /** `@slug` of the catalog entry whose credentials are used. */
  readonly provider: string;
  readonly baseUrl: string;
}

export interface S3Settings extends BucketSettings {
  readonly bucketUrl: string;
  readonly region: string;
  readonly credentials: S3Credentials;
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
export function compileFiles({ dir, gcs, s3, ...file }: Files): FilesSettings {
  return {
    // The schema ensures one of the three.
    place: (gcs && compileGcs(gcs)) ?? (s3 && compileS3(s3)) ?? dir ?? '',
    limits: { ...DEFAULT_LIMITS, ...compileFileLimits(file) },
    url: file.url,
    inlineBytes: parseBytes(file.inline_bytes ?? '20MiB'),
    idleMs: parseDuration(file.idle_time ?? '30s'),
    uploads: file.uploads ?? 32,
    unfinished: file.unfinished_uploads ?? 16,
  };
}

const compileGcs = ({ provider, base_url: baseUrl, ...bucket }: FilesGcs): GcsSettings => ({
  ...compileBucket(bucket),
  provider,
  baseUrl: baseUrl ?? 'https://storage.googleapis.com',
});

const compileS3 = (s3: FilesS3): S3Settings => ({
  ...compileBucket(s3),
  bucketUrl: bucketUrlOf(s3),
  region: s3.region,
  credentials: {
    accessKeyId: s3.access_key_id,
    secretAccessKey: s3.secret_access_key,
    sessionToken: s3.session_token,
  },
});

const compileBucket = (file: Pick<FilesGcs, 'bucket' | 'prefix' | 'allow_insecure'>): BucketSettings => ({
  bucket: file.bucket,
  prefix: file.prefix ?? '',
  allowInsecure: file.allow_insecure ?? false,
});

/** Whether the bucket is the first segment of the path, and not a part of the host. */
export const hasPathStyle = ({ path_style: pathStyle, endpoint }: FilesS3): boolean =>
  pathStyle ?? endpoint !== undefined;

function bucketUrlOf(s3: FilesS3): string {
  const { bucket, region } = s3;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { protocol, host } = new URL(s3.endpoint ?? `https://s3.${region}.${domain}`);
  return hasPathStyle(s3) ? `${protocol}//${host}/${bucket}` : `${protocol}//${bucket}.${host}`;
}
