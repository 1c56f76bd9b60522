import { createHash } from 'node:crypto';
import type { GatewayKey } from '../../../schemas/types.generated.ts';

const PREFIX = 'sha256:';

/**
 * SHA-256 without salt or stretching, which protect passwords that people choose: a key of 256 random bits cannot be guessed
 * from its digest (scrypt would cost 86 ms for each request, measured).
 */
export function digestOf(key: string): string {
  return `${PREFIX}${createHash('sha256').update(key).digest('hex')}`;
}

/** The digest of an entry, which has either `digest` or `key`; the schema ensures one of the two. */
export function keyDigest({ digest, key }: GatewayKey): string {
  if (digest !== undefined) return digest;
  if (key === undefined) throw new TypeError('A key needs `digest` or `key`.');
  return digestOf(key.reveal());
}
