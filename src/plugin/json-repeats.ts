/**
 * Finds a key that occurs twice in one object of a JSON value. JSON.parse keeps the last value, and an upstream may
 * read the first.
 * @param bytes well-formed JSON
 */
export function repeatedKey(bytes: Buffer): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let keyIsDue = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const from = at;
      for (at += 1; bytes[at] !== QUOTE && at < bytes.length; at += 1) if (bytes[at] === BACKSLASH) at += 1;
      const keys = open.at(-1);
      if (keyIsDue && keys) {
        const key = JSON.parse(bytes.toString('utf8', from, at + 1)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      keyIsDue = false;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      open.push(byte === OPEN_OBJECT ? new Set() : undefined);
      keyIsDue = byte === OPEN_OBJECT;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    else if (byte === COMMA) keyIsDue = open.at(-1) !== undefined;
  }
  return undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
