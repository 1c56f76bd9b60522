import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
/** Bytes of a random nonce (NIST SP 800-38D, section 8.2.2). */
export const IV_BYTES = 12;
export const TAG_BYTES = 16;

/** A text sealed with AES-256-GCM. */
interface SealedBytes {
  readonly iv: Buffer;
  readonly tag: Buffer;
  readonly text: Buffer;
}

const NO_DATA = Buffer.alloc(0);

/** @param data is not sealed, and the same bytes must be given to open the value */
export function sealBytes(key: Buffer, value: Buffer, data: Buffer = NO_DATA): SealedBytes {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(data);
  const text = Buffer.concat([cipher.update(value), cipher.final()]);
  return { iv, tag: cipher.getAuthTag(), text };
}

/** Undefined: the key, the additional data or the bytes are others. */
export function openBytes(key: Buffer, { iv, tag, text }: SealedBytes, data: Buffer = NO_DATA): Buffer | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(data);
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch {
    return undefined;
  }
}
