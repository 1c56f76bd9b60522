import type { FieldSpan, TopLevel } from './json-scan.ts';
import { COMMA, OPEN_OBJECT, CLOSE_OBJECT, isSpace, afterSpaceIn } from '../formats/json/scan.ts';

/** New JSON texts of top-level keys; undefined: the key is taken away. */
export type Texts = ReadonlyMap<string, string | undefined>;

/** A key whose text changes, where the bytes have it. */
interface TextChange {
  readonly span: FieldSpan;
  readonly text: string | undefined;
}

/**
 * The bytes of an object with some top-level values replaced, added or taken away. All others stay as they were written, with the
 * space around them. The cost grows with the edits and the bytes, not with the keys: untouched members are copied in runs.
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
  // Beside keys that go, new ones stand at the end, as they would in an object written anew.
  if (more !== '' && gone === 0) pieces.push(Buffer.from(kept > 0 ? `${more},` : more));
  const inOrder = changes.toSorted((a, b) => a.span.from - b.span.from);
  copyMembers({ bytes, from: brace, to: end, changes: inOrder, kept }, pieces);
  if (more !== '' && gone > 0) pieces.push(Buffer.from(kept > 0 ? `,${more}` : more));
  pieces.push(bytes.subarray(end));
  return Buffer.concat(pieces);
}

interface Members {
  readonly bytes: Buffer;
  /** Just past the brace. */
  readonly from: number;
  /** Of the closing brace. */
  readonly to: number;
  /** In the order of the bytes. */
  readonly changes: readonly TextChange[];
  /** Members that are not taken away. */
  readonly kept: number;
}

/** A member that is taken away takes the comma behind it along. Where none follows, the comma before it goes. */
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
