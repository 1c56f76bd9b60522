/**
 * JSON text with its long strings replaced by a short one. A check whose verdict depends on no long string, such as the
 * JSON Schema of a body without `pattern` and lengths, gives the same verdict for both texts.
 */

/** A body that abridging leaves with more than half of its bytes, or that is small, is parsed whole at no more cost. */
const SMALL_BODY = 4096;

/** Stands for a long string. No schema of a body knows it as a value (body-schema.test.ts). */
export const LONG_TEXT_SHOWN = '(long text)';

/** @param longTexts pairs of places in the text, in order: where a string begins and ends */
export function isMostlyLong(length: number, longTexts: readonly number[]): boolean {
  if (length < SMALL_BODY) return false;
  let long = 0;
  for (let at = 0; at < longTexts.length; at += 2) long += longTexts[at + 1]! - longTexts[at]!;
  return long * 2 > length;
}

export function abridge(bytes: Buffer, longTexts: readonly number[]): string {
  let text = '';
  let from = 0;
  for (let at = 0; at < longTexts.length; at += 2) {
    text += bytes.toString('utf8', from, longTexts[at]) + SHOWN;
    from = longTexts[at + 1]!;
  }
  return text + bytes.toString('utf8', from);
}

const SHOWN = JSON.stringify(LONG_TEXT_SHOWN);
