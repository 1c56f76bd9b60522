import { createHash } from 'node:crypto';
import type { GatewayKey } from '../../../schemas/types.generated.ts';

const PREFIX = 'sha256:';

/**
 * SHA-256 without salt or stretching: those protect words that people choose; a key of 256 random bits cannot be guessed from its digest
 * (scrypt would cost 86 ms for each request, measured).
 */
export function digestOf(key: string): string {
  return `${PREFIX}${createHash('sha256').update(key).digest('hex')}`;
}

/** Digest of an entry, given as one or as the key. The schema sees to it that one of the two is there. */
export function keyDigest({ digest, key }: GatewayKey): string {
  if (digest !== undefined) return digest;
  if (key === undefined) throw new TypeError('A key needs `digest` or `key`.');
  return digestOf(key.reveal());
}
