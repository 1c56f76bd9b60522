import { QUOTE, depthStep, afterString } from './scan.ts';

/**
 * The deepest JSON text that is made a part of a body. Such text is parsed without recursion, but what is made of it is walked
 * and written with it: some thousand levels end the stack (measured). A body itself may nest 64 levels (`limits.json_depth`).
 */
export const MAX_DEPTH = 256;

/** Only brackets are counted: whether the text is JSON at all is for its parser to say. */
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
