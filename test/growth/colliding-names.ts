/** FNV-1a of 32 bits, as src/formats/name-aliases.ts makes the digest of a name. */
function digestOf(text: string, from: number): number {
  let hash = from;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

const BEGINNING = 'a'.repeat(64);

/** Two endings with the same digest, which a caller finds among some 80,000. */
function twins(from: number): readonly [string, string] {
  const byDigest = new Map<number, string>();
  for (let at = 0; ; at += 1) {
    const ending = at.toString(36).padStart(5, '0');
    const digest = digestOf(ending, from);
    const other = byDigest.get(digest);
    if (other !== undefined) return [other, ending];
    byDigest.set(digest, ending);
  }
}

const PAIRS: (readonly [string, string])[] = [];
let end = digestOf(BEGINNING, 0x811c9dc5);

/** A name for the number `at`: its binary digits, each as one of two twins. All names are too long for a target, and have the same digest. */
export function collidingName(at: number): string {
  const digits = [...at.toString(2).padStart(14, '0')];
  while (PAIRS.length < digits.length) {
    PAIRS.push(twins(end));
    end = digestOf(PAIRS.at(-1)![0], end);
  }
  return BEGINNING + digits.map((digit, place) => PAIRS[place]![Number(digit)]).join('');
}
