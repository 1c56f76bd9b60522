/** Longest file name, in characters; file systems and headers have similar limits. */
const MAX_NAME = 255;

/** Base name without control characters: it returns in JSON and in a header. */
export function cleanName(filename: string | undefined): string {
  const base = (filename ?? '').split(/[\\/]/).at(-1)!;
  const clean = base
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, '')
    .toWellFormed()
    .trim();
  const letters = [...clean];
  const name = letters.length <= MAX_NAME ? clean : letters.slice(-MAX_NAME).join('');
  return name === '' || name === '.' || name === '..' ? 'unnamed' : name;
}
