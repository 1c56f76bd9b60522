import { hash, randomBytes } from 'node:crypto';

/** Requests under way that the gateway sends in the name of a key. */
const MAX_LENT = 64;

/** Secrets that stand for keys, each for one request of this process, by their digests. */
const lent = new Map<string, string>();

export interface LentKey {
  readonly secret: string;
  end(): void;
}

/** A secret for one request in the name of a key. Undefined: there are too many. */
export function lendKey(keyId: string): LentKey | undefined {
  if (lent.size >= MAX_LENT) return undefined;
  const secret = `lent-${randomBytes(32).toString('base64url')}`;
  const digest = hash('sha256', secret, 'hex');
  lent.set(digest, keyId);
  return { secret, end: () => void lent.delete(digest) };
}

/** The key that a secret stands for. */
export const lentKeyOf = (secret: string): string | undefined =>
  lent.size === 0 ? undefined : lent.get(hash('sha256', secret, 'hex'));
