export const ENCRYPTION_KEY_BYTES = 32;
const KEY_NAME = /^[A-Za-z0-9_-]{1,32}$/;
const MAX_KEYS = 16;

/**
 * `k2:<base64 of 32 bytes>,k1:<…>` by name, in the order of the text. Errors name keys and never show them.
 * @throws RangeError
 */
export function parseEncryptionKeys(text: string): ReadonlyMap<string, Buffer> {
  const keys = new Map<string, Buffer>();
  for (const part of text.trim().split(/[,\n]/)) {
    // A text without a colon may be the key itself, which no message may show.
    const [, name = '', value = ''] = /^([^:]*):([^]*)$/.exec(part.trim()) ?? [];
    const key = Buffer.from(value, 'base64');
    if (!KEY_NAME.test(name))
      throw new RangeError(
        `key ${keys.size + 1} has no name: each key is NAME:BASE64, which \`echo k1:$(openssl rand -base64 ${ENCRYPTION_KEY_BYTES})\` makes`,
      );
    if (keys.has(name)) throw new RangeError(`the key "${name}" appears twice`);
    // Node decodes what it can of any text: only the exact base64 of 32 bytes is a key.
    if (key.length !== ENCRYPTION_KEY_BYTES || key.toString('base64') !== value)
      throw new RangeError(
        `the key "${name}" is not base64 of ${ENCRYPTION_KEY_BYTES} bytes: \`echo ${name}:$(openssl rand -base64 ${ENCRYPTION_KEY_BYTES})\` makes one`,
      );
    keys.set(name, key);
  }
  if (keys.size > MAX_KEYS) throw new RangeError(`there are more than ${MAX_KEYS} keys`);
  return keys;
}
