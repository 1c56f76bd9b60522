import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../../plugin/index.ts';
import { digestOf, generateKey, parsePeppers, pepperedDigest } from '../../../core/settings/compile/api-keys.ts';

interface NewSecret {
  readonly text: string;
  readonly digest: string;
  readonly last4: string;
}

const withDigest = (text: string, digest: string): NewSecret => ({ text, digest, last4: text.slice(-4) });

/** A new gateway key. @param peppers of the settings in force: the first makes the digest. Undefined: none. */
export function createSecret(peppers: Secret | undefined): NewSecret {
  const { key, digest } = generateKey();
  const [first] = peppers ? parsePeppers(peppers.reveal()) : [];
  return withDigest(key, first ? pepperedDigest(...first, key) : digest);
}

const CHECKSUM = 6;

/** `gha_<43 characters><6 characters of a checksum>`: scanners find a leaked token by its prefix and reject look-alikes by its end. */
export function createToken(prefix: 'gha_' | 'ghb_' = 'gha_'): NewSecret {
  const body = `${prefix}${randomBytes(32).toString('base64url')}`;
  const text = body + createHash('sha256').update(body).digest('hex').slice(0, CHECKSUM);
  return withDigest(text, digestOf(text));
}

/** Compares in constant time, whatever the lengths. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(hashed(one), hashed(other));

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest();
