import { afterString, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, unquoted } from './scan.ts';

/**
 * Finds a key that occurs twice in one object of a JSON text. JSON.parse keeps the last value, and an upstream may read
 * the first.
 * @param text well-formed JSON
 */
export function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let keyIsDue = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterString(text, at);
      const keys = open.at(-1);
      if (keyIsDue && keys) {
        const key = unquoted(text.slice(at, end));
        if (keys.has(key)) return key;
        keys.add(key);
      }
      keyIsDue = false;
      at = end - 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(code === OPEN_OBJECT ? new Set() : undefined);
      keyIsDue = code === OPEN_OBJECT;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    else if (code === COMMA) keyIsDue = open.at(-1) !== undefined;
  }
  return undefined;
}
