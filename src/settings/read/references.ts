/** `${env:NAME}`, `${env:NAME:-default}`, `${file:path}` and the escape `$${`, in the text of one scalar. */

export interface Reference {
  readonly kind: 'env' | 'file';
  /** Variable or path. */
  readonly name: string;
  readonly fallback: string | undefined;
  /** As written in the text. */
  readonly raw: string;
}

/** Text that starts like a reference and is none. */
export interface BadReference {
  readonly kind: 'bad';
  readonly message: string;
  readonly raw: string;
}

export type Piece = string | Reference | BadReference;

const ESCAPE = '$${';
const ENV = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const FILE = /^file:(.*\S.*)$/;

export function parseReferences(text: string): Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('$', at);
    if (next === -1) break;
    literal += text.slice(at, next);
    if (text.startsWith(ESCAPE, next)) {
      literal += '${';
      at = next + ESCAPE.length;
    } else if (text.startsWith('${', next)) {
      if (literal !== '') pieces.push(literal);
      literal = '';
      const piece = parseReference(text, next);
      pieces.push(piece);
      at = next + piece.raw.length;
    } else {
      literal += '$';
      at = next + 1;
    }
  }
  literal += text.slice(at);
  if (literal !== '' || pieces.length === 0) pieces.push(literal);
  return pieces;
}

function parseReference(text: string, start: number): Reference | BadReference {
  const end = text.indexOf('}', start);
  if (end === -1) return bad(text.slice(start), 'this `${` is never closed; write `$${` for a plain `${`');
  const raw = text.slice(start, end + 1);
  const inner = raw.slice(2, -1);
  if (inner.includes('${')) return bad(raw, 'references do not nest');
  const [, variable, fallback] = ENV.exec(inner) ?? [];
  // The first `}` ends a reference: the rest of the default would silently become text.
  if (fallback !== undefined && /[{}]/.test(fallback)) return bad(raw, 'a default cannot hold `{` or `}`');
  if (variable !== undefined) return { kind: 'env', name: variable, fallback, raw };
  const path = FILE.exec(inner)?.[1];
  if (path !== undefined) return { kind: 'file', name: path.trim(), fallback: undefined, raw };
  if (/^[A-Z][A-Z0-9_]*$/.test(inner))
    return bad(raw, `not a reference: write \`\${env:${inner}}\` for the variable, \`$\${\` for a plain \`\${\``);
  return bad(
    raw,
    'not a reference: use `${env:NAME}`, `${env:NAME:-default}` or `${file:PATH}`; write `$${` for a plain `${`',
  );
}

const bad = (raw: string, message: string): BadReference => ({ kind: 'bad', raw, message });

export const isReference = (piece: Piece): piece is Reference => typeof piece !== 'string' && piece.kind !== 'bad';
