import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { ResponseLimits } from '../../../core/memory/ports.ts';
import { parseBytes, parseDuration } from '../../../core/kernel/units.ts';

/** `responses` of server.yaml with its defaults. */
export const compileKept = ({
  store = true,
  max_bytes,
  ttl,
}: NonNullable<ServerFile['responses']> = {}): ResponseLimits => ({
  maxBytes: store ? parseBytes(max_bytes ?? '64MiB') : 0,
  ttlMs: parseDuration(ttl ?? '1h'),
});
