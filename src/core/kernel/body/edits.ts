import { COMMA, OPEN_OBJECT, CLOSE_OBJECT, isSpace, afterSpaceIn } from '../../../formats/json/scan.ts';
import type { FieldSpan, TopLevel } from './json-scan.ts';

/** New JSON texts of top-level keys; undefined deletes the key. */
export type Texts = ReadonlyMap<string, string | undefined>;

/** A changed or deleted key that occurs in the bytes. */
interface TextChange {
  readonly span: FieldSpan;
  readonly text: string | undefined;
}

/**
 * The bytes of an object with some top-level values replaced, added or deleted. All others stay as written: the cost
 * grows with the edits and bytes, not with the number of keys.
 */
export function spliceTexts(bytes: Buffer, topLevel: TopLevel, texts: Texts): Buffer {
  const added: string[] = [];
  const changes: TextChange[] = [];
  for (const [key, text] of texts) {
    const span = topLevel.get(key);
    if (span) changes.push({ span, text });
    else if (text !== undefined) added.push(`${JSON.stringify(key)}:${text}`);
  }
  const gone = changes.reduce((count, { text }) => (text === undefined ? count + 1 : count), 0);
  const kept = topLevel.size - gone;
  const brace = bytes.indexOf(OPEN_OBJECT) + 1;
  const end = bytes.lastIndexOf(CLOSE_OBJECT);
  const pieces = [bytes.subarray(0, brace)];
  const more = added.join(',');
  // With deletions, new keys go to the end, as in a newly serialized object.
  if (more !== '' && gone === 0) pieces.push(Buffer.from(kept > 0 ? `${more},` : more));
  const inOrder = changes.toSorted((a, b) => a.span.from - b.span.from);
  copyMembers({ bytes, from: brace, to: end, changes: inOrder, kept }, pieces);
  if (more !== '' && gone > 0) pieces.push(Buffer.from(kept > 0 ? `,${more}` : more));
  pieces.push(bytes.subarray(end));
  return Buffer.concat(pieces);
}

interface Members {
  readonly bytes: Buffer;
  /** Index after the opening brace. */
  readonly from: number;
  /** Index of the closing brace. */
  readonly to: number;
  /** Ordered by position. */
  readonly changes: readonly TextChange[];
  /** Number of remaining members. */
  readonly kept: number;
}

/** A deleted member's trailing comma is deleted with it. Without a trailing comma, the preceding comma is deleted. */
function copyMembers({ bytes, from, to, changes, kept }: Members, pieces: Buffer[]): void {
  let at = from;
  let endsWithComma = false;
  for (const { span, text } of changes) {
    if (text !== undefined) {
      pieces.push(bytes.subarray(at, span.from), Buffer.from(text));
      at = span.to;
      continue;
    }
    pieces.push(bytes.subarray(at, span.key));
    at = afterSpaceIn(bytes, span.to);
    endsWithComma = bytes[at] !== COMMA;
    if (!endsWithComma) at = afterSpaceIn(bytes, at + 1);
  }
  if (endsWithComma && kept > 0) cutLastComma(pieces);
  pieces.push(bytes.subarray(at, to));
}

function cutLastComma(pieces: Buffer[]): void {
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) {
    let end = piece.length;
    while (end > 0 && isSpace(piece[end - 1]!)) end -= 1;
    if (end === 0) continue;
    if (piece[end - 1] === COMMA) end -= 1;
    pieces.push(piece.subarray(0, end));
    return;
  }
}
