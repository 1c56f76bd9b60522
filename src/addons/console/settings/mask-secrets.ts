const MARK = '•';
/** A shorter piece of a secret is no secret, and may be anywhere. */
const SHORTEST = 4;
const SHORTEST_LINE = 12;
/** Digests of keys: whoever has one can try texts against it. */
const DIGEST = /\b(?:sha256:[0-9a-f]{64}|hmac:[\w-]{1,64}:[\w+/=-]{40,})/g;

interface MaskedText {
  readonly text: string;
  readonly masked: readonly { readonly line: number }[];
}

/** Writes a mark for each character of a secret, so that lines and columns stay. */
export function maskSecrets(text: string, secrets: readonly string[]): MaskedText {
  const pieces = [...new Set(secrets.flatMap(piecesOf))].sort((one, other) => other.length - one.length);
  const hidden = (match: string): string => MARK.repeat(match.length);
  let shown = text;
  for (const piece of pieces) shown = shown.replaceAll(piece, hidden);
  shown = shown.replaceAll(DIGEST, hidden);
  const lines = shown.split('\n').flatMap((line, index) => (line.includes(MARK) ? [{ line: index + 1 }] : []));
  return { text: shown, masked: lines };
}

/** A secret as YAML may write it: as it is, with escapes, or a line at a time. */
function piecesOf(secret: string): readonly string[] {
  if (secret.length < SHORTEST) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [secret, JSON.stringify(secret).slice(1, -1), ...lines.filter(({ length }) => length >= SHORTEST_LINE)];
}
