import { QUOTE, depthStep, afterString } from './scan.ts';

/**
 * The deepest nesting of a JSON text that becomes part of a body. Parsing such a text needs no recursion, but walking
 * and writing its value does: some thousand levels overflow the stack (measured). A body itself may nest 64 levels
 * (`limits.json_depth`).
 */
export const MAX_DEPTH = 256;

/** Counts brackets only: the parser decides whether the text is valid JSON. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      continue;
    }
    depth += depthStep(code);
    if (depth > MAX_DEPTH) return true;
    at += 1;
  }
  return false;
}
