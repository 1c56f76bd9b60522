import { QUOTE, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, afterStringIn, unquoted } from './scan.ts';
import { shownPath, shownText } from './shown.ts';

/** An object or list that encloses the current position. */
interface Open {
  /** Current key; undefined in an object before its first key. */
  key: string | undefined;
  /** Current index in a list; -1 in an object. */
  index: number;
}

/** Maximum lengths of a key and a path quoted in an error. */
const SHOWN_KEY = 100;
const SHOWN_PLACE = 500;

/**
 * Path of the object or list that opens at byte `target`, as OpenAI's `param`: `tools[3].parameters`; `''` for the
 * body. Only for errors: tracking paths would slow down every scan. The bytes before must be well-formed.
 */
export function placeAt(bytes: Buffer, target: number): string {
  const open: Open[] = [];
  for (let at = 0; at < target; at += 1) {
    const byte = bytes[at];
    const inner = open.at(-1);
    if (byte === QUOTE) {
      const end = afterStringIn(bytes, at);
      // A string in key position; values follow a colon or are list items.
      if (inner && inner.index < 0 && inner.key === undefined) inner.key = readKey(bytes, at, end);
      at = end - 1;
    } else if (byte === OPEN_OBJECT) open.push({ key: undefined, index: -1 });
    else if (byte === OPEN_ARRAY) open.push({ key: undefined, index: 0 });
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    else if (byte === COMMA && inner) {
      if (inner.index < 0) inner.key = undefined;
      else inner.index += 1;
    }
  }
  return shownPath(
    open.map(({ key = '', index }) => (index < 0 ? key : index)),
    SHOWN_PLACE,
  );
}

const readKey = (bytes: Buffer, from: number, to: number): string =>
  shownText(unquoted(bytes.toString('utf8', from, to)), SHOWN_KEY);
