export interface YamlPiece {
  readonly kind: 'key' | 'text' | 'comment' | 'plain';
  readonly text: string;
}

const PIECE =
  /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|([\w$.@/*-]+)(?=\s*:(?:\s|$))|([^#"'\w$.@/*-]+|[\w$.@/*-]+|.)/g;

/** A line of YAML in pieces for colours. A comment begins a line, or stands behind a space. */
export function yamlPieces(line: string): readonly YamlPiece[] {
  const pieces: YamlPiece[] = [];
  for (const [text, comment, quoted, key] of line.matchAll(PIECE)) {
    const last = pieces.at(-1);
    const isComment = comment !== undefined && (last === undefined || /\s$/.test(last.text));
    const kind = isComment ? 'comment' : quoted !== undefined ? 'text' : key !== undefined ? 'key' : 'plain';
    if (kind === 'plain' && last?.kind === 'plain') pieces[pieces.length - 1] = { kind, text: last.text + text };
    else pieces.push({ kind, text });
  }
  return pieces;
}
