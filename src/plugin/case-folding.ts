const ASCII = /^[\0-\x7f]*$/;

/**
 * The text under Unicode's simple case folding (CaseFolding.txt, status C and S): two texts are the same to a reader that ignores case
 * where their foldings are, such as Go's encoding/json. `ſ` (U+017F) folds to `s` and the Kelvin sign (U+212A) to `k`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += UNLIKE_CASING.get(character) ?? foldCharacter(character);
  return folded;
}

/** Folding is casing up and down wherever that keeps one character; `ς` becomes `σ` only on the way over `Σ`. */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const cased = isOneCharacter(upper) ? upper : character;
  const lower = cased.toLowerCase();
  return isOneCharacter(lower) ? lower : cased;
}

const isOneCharacter = (text: string): boolean =>
  text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff);

/** Where folding differs from casing: Turkish `ı` folds to itself, and three pairs have no common capital of one character. */
const UNLIKE_CASING: ReadonlyMap<string, string> = new Map([
  ['\u0131', '\u0131'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
]);
