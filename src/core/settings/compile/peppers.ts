import { createHmac } from 'node:crypto';

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
