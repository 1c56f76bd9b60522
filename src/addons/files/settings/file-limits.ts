import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../../core/kernel/units.ts';
import type { FileLimits } from '../../../core/kernel/index.ts';

/** The limits that a key has in place of those of server.yaml. */
export const compileFileLimits = (files: NonNullable<GatewayKey['files']>): Partial<FileLimits> => ({
  ...(files.max_file_bytes !== undefined && { maxFileBytes: parseBytes(files.max_file_bytes) }),
  ...(files.max_total_bytes !== undefined && { maxTotalBytes: parseBytes(files.max_total_bytes) }),
  ...(files.max_files !== undefined && { maxFiles: files.max_files }),
  ...(files.ttl !== undefined && { ttlMs: parseDuration(files.ttl) }),
});
