import { createHash, randomBytes } from 'node:crypto';
import { digestOf } from './key-digest.ts';

export interface NewKey {
  /** To be shown once and never stored. */
  readonly key: string;
  readonly digest: string;
}

const ID_LENGTH = 12;
const CHECKSUM_LENGTH = 6;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * `gatehouse_<12-char id>_<43-char secret><6-char checksum>`. The prefix lets secret scanners find a leaked key, the id tells keys apart
 * without giving one away, the checksum lets scanners refuse look-alikes.
 */
export function generateKey(random: (size: number) => Buffer = randomBytes): NewKey {
  const id = Array.from(random(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join('');
  const body = `gatehouse_${id}_${random(32).toString('base64url')}`;
  const key = `${body}${checksumOf(body)}`;
  return { key, digest: digestOf(key) };
}

/** Hexadecimal: base64url may end the secret with any of its characters, and a fixed length says where the checksum begins. */
function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, CHECKSUM_LENGTH);
}

/** Whether the text has the form of a key and its checksum fits: a typo is told without looking any key up. */
export function isWellFormedKey(text: string): boolean {
  if (!/^gatehouse_[a-z0-9]{12}_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/.test(text)) return false;
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}
