/** A part of a text. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Found {
  /** Several where keys are repeated; none where the object has no such member, or one that is no string. */
  readonly values: readonly Span[];
  /** Behind the object. */
  readonly end: number;
}

/**
 * Finds a string in the JSON object at `start` by the keys that lead to it through objects, without parsing and without recursion: an
 * upstream may nest its reply as deeply as it likes. Strings under the same keys at other places, such as arguments of a tool call, do
 * not match. The text may end before the object does.
 */
export function stringsAt(text: string, start: number, path: readonly string[]): Found {
  let depth = 0;
  /** How many keys of `path` lead to the object at this depth. */
  let matched = 0;
  const values: Span[] = [];
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const to = stringEnd(text, at);
      const next = afterSpace(text, to);
      const isKey = text[next] === ':';
      if (isKey && depth === matched + 1 && text.slice(at + 1, to - 1) === path[matched]) {
        const from = afterSpace(text, next + 1);
        const isLast = matched + 1 === path.length;
        if (!isLast && text[from] === '{') matched += 1;
        if (isLast && text[from] === '"') values.push({ from, to: stringEnd(text, from) });
      }
      at = isKey ? next + 1 : to;
      continue;
    }
    at += 1;
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { values, end: at };
      matched = Math.min(matched, depth - 1);
    }
  }
  return { values, end: text.length };
}

/** Behind the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const SPACE = /[ \t\r\n]*/y;

function afterSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}
