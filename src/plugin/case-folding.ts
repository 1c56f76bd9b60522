const ASCII = /^[\0-\x7f]*$/;

/**
 * The text under Unicode simple case folding (CaseFolding.txt, status C and S). A reader that ignores case, such as
 * Go's encoding/json, takes two texts for the same when their foldings are equal. `ſ` (U+017F) folds to `s` and the
 * Kelvin sign (U+212A) to `k`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += UNLIKE_CASING.get(character) ?? foldCharacter(character);
  return folded;
}

/**
 * Folding equals upper-casing then lower-casing wherever each step yields one character; `ς` becomes `σ` only by way of
 * `Σ`.
 */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const cased = isOneCharacter(upper) ? upper : character;
  const lower = cased.toLowerCase();
  return isOneCharacter(lower) ? lower : cased;
}

const isOneCharacter = (text: string): boolean =>
  text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff);

/** Exceptions to casing: Turkish `ı` folds to itself, and three pairs have no common capital of one character. */
const UNLIKE_CASING: ReadonlyMap<string, string> = new Map([
  ['\u0131', '\u0131'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
]);
