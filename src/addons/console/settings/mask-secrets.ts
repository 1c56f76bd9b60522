import { parseDocument, visit } from 'yaml';

const MARK = '•';
/** A shorter piece of a secret is no secret, and may be anywhere. */
const SHORTEST = 4;
const SHORTEST_LINE = 12;
/** Digests of keys: whoever has one can try texts against it. */
const DIGEST = /\b(?:sha256:[0-9a-f]{64}|hmac:[\w-]{1,64}:[\w+/=-]{40,})/g;

export interface MaskedText {
  readonly text: string;
  readonly masked: readonly { readonly line: number }[];
}

/** Writes a mark for each character of a secret, so that lines and columns stay. */
export function maskSecrets(text: string, secrets: readonly string[]): MaskedText {
  const pieces = [...new Set(secrets.flatMap(piecesOf))].sort((one, other) => other.length - one.length);
  const hidden = (match: string): string => MARK.repeat(match.length);
  let shown = text;
  for (const piece of pieces) shown = shown.replaceAll(piece, hidden);
  for (const [from, to] of spelledOtherwise(text, pieces))
    shown = shown.slice(0, from) + shown.slice(from, to).replaceAll(/\S/g, MARK) + shown.slice(to);
  shown = shown.replaceAll(DIGEST, hidden);
  const lines = shown.split('\n').flatMap((line, index) => (line.includes(MARK) ? [{ line: index + 1 }] : []));
  return { text: shown, masked: lines };
}

/** Where scalars of YAML have a secret that the text does not: `'it''s'`, `"\x41"`, lines that are folded to one. */
function spelledOtherwise(text: string, secrets: readonly string[]): readonly (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = [];
  visit(parseDocument(text, { logLevel: 'silent' }), {
    Scalar(_, { value, range }) {
      if (typeof value !== 'string' || !range) return;
      const [from, to] = range;
      const source = text.slice(from, to);
      if (secrets.some((secret) => value.includes(secret) && !source.includes(secret))) found.push([from, to]);
    },
  });
  return found;
}

/** A secret as YAML may write it: as it is, with escapes, or a line at a time. */
function piecesOf(secret: string): readonly string[] {
  if (secret.length < SHORTEST) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [secret, JSON.stringify(secret).slice(1, -1), ...lines.filter(({ length }) => length >= SHORTEST_LINE)];
}
