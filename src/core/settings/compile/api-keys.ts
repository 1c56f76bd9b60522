import { createHash, randomBytes, createHmac } from 'node:crypto';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';

const PREFIX = 'sha256:';

/**
 * SHA-256 without salt or stretching, which protect passwords that people choose: a key of 256 random bits cannot be guessed
 * from its digest (scrypt would cost 86 ms for each request, measured).
 */
export const digestOf = (key: string): string => `${PREFIX}${createHash('sha256').update(key).digest('hex')}`;

/** The digest of an entry, which has either `digest` or `key`; the schema ensures one of the two. */
export function keyDigest({ digest, key }: GatewayKey): string {
  if (digest !== undefined) return digest;
  if (key === undefined) throw new TypeError('A key needs `digest` or `key`.');
  return digestOf(key.reveal());
}

/** The digests that are valid at some time: the key's own first, then that of before its last rotation. */
export function digestsOf(key: GatewayKey): readonly string[] {
  const own = keyDigest(key);
  return key.previous ? [own, key.previous.digest] : [own];
}

export interface NewKey {
  /** Shown once and never stored. */
  readonly key: string;
  readonly digest: string;
}

const ID_LENGTH = 12;
const CHECKSUM_LENGTH = 6;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * `gatehouse_<12-char id>_<43-char secret><6-char checksum>`. The prefix lets secret scanners find a leaked key, the id
 * identifies a key without revealing it, the checksum lets scanners reject look-alikes.
 */
export function generateKey(random: (size: number) => Buffer = randomBytes): NewKey {
  const id = Array.from(random(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join('');
  const body = `gatehouse_${id}_${random(32).toString('base64url')}`;
  const key = `${body}${checksumOf(body)}`;
  return { key, digest: digestOf(key) };
}

/** Hexadecimal of fixed length: the secret may end with any base64url character, so only the length separates the two. */
function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, CHECKSUM_LENGTH);
}

/** True when the text has the form of a key and a matching checksum: detects a typo without looking up any key. */
export function isWellFormedKey(text: string): boolean {
  if (!/^gatehouse_[a-z0-9]{12}_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/.test(text)) return false;
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

const NAME = /^[A-Za-z0-9_-]{1,32}$/;
const BYTES = 32;

/** The digest of a key with a pepper: without the pepper, a digest that leaked cannot even be compared with a key. */
export const pepperedDigest = (name: string, pepper: Buffer, key: string): string =>
  `hmac:${name}:${createHmac('sha256', pepper).update(key).digest('hex')}`;

/** `p1:BASE64,p2:BASE64`. Throws RangeError without quoting a secret. */
export function parsePeppers(text: string): ReadonlyMap<string, Buffer> {
  const peppers = new Map<string, Buffer>();
  for (const [index, item] of text.split(',').entries()) {
    const [name = '', secret = ''] = item.trim().split(/:(.*)/);
    const bytes = Buffer.from(secret, 'base64');
    if (!NAME.test(name) || bytes.length !== BYTES)
      throw new RangeError(
        `pepper ${index + 1} must be a name and ${BYTES} bytes in base64: \`echo p1:$(openssl rand -base64 ${BYTES})\` makes one`,
      );
    if (peppers.has(name)) throw new RangeError(`two peppers have the name "${name}"`);
    peppers.set(name, bytes);
  }
  return peppers;
}
