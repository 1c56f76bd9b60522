/** Most characters of a match for which a stream waits. A longer one holds the whole reply. */
const MOST = 65_536;

/** A group of a pattern that is being read: the longest of its alternatives, and the length of the current one. */
interface Group {
  longest: number;
  length: number;
  /** The length of the last part, which a repeat multiplies. */
  last: number;
}

const TOKEN =
  /\\Q|\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\x[0-9A-Fa-f]{2}|\\[^]|\[\^?\]?(?:\\[^]|\[:[a-z^]+:\]|[^\]\\])*\]|\{(\d+)(,(\d*))?\}\??|[*+?]\??|\(\?(?:P?<[A-Za-z_]\w*>|[a-zA-Z-]*[:)])|[^]/gu;

/**
 * The most UTF-16 units that a match of an RE2 pattern can have. Undefined: there is no bound, or the pattern looks at the
 * start of the text, so that a match depends on more than its neighbours.
 */
export function longestMatch(source: string): number | undefined {
  const groups: Group[] = [{ longest: 0, length: 0, last: 0 }];
  for (const [token, from, more, to] of source.matchAll(TOKEN)) {
    const group = groups.at(-1)!;
    if (from !== undefined) repeat(group, more === undefined ? Number(from) : to === '' ? Infinity : Number(to));
    else if (/^[*+]/.test(token)) repeat(group, Infinity);
    else if (token.startsWith('?')) continue;
    else if (token === '|') {
      group.longest = Math.max(group.longest, group.length);
      group.length = 0;
      group.last = 0;
    } else if (token.startsWith('(')) {
      if (!token.endsWith(')')) groups.push({ longest: 0, length: 0, last: 0 });
    } else if (token === ')') close(groups);
    else if (token === '^' || token === '\\A' || token === '\\Q' || token === '\\z') return undefined;
    else add(group, /^(?:\$|\\[bB])$/.test(token) ? 0 : unitsOf(token));
  }
  if (groups.length !== 1) return undefined;
  const longest = Math.max(groups[0]!.longest, groups[0]!.length);
  return longest > 0 && longest <= MOST ? longest : undefined;
}

function add(group: Group, length: number): void {
  group.last = length;
  group.length += length;
}

function repeat(group: Group, times: number): void {
  const all = group.last === 0 ? 0 : group.last * times;
  group.length += all - group.last;
  group.last = all;
}

function close(groups: Group[]): void {
  const inner = groups.pop()!;
  const around = groups.at(-1);
  if (around) add(around, Math.max(inner.longest, inner.length));
  else groups.push({ longest: Infinity, length: 0, last: 0 });
}

/** A letter may match one of another length in another case, and a class a pair of units. */
const unitsOf = (token: string): number => (/^(?:[\x20-\x7e]|\\[dwsnrtfav.*+?()[\]{}|^$\\/-])$/.test(token) ? 1 : 2);
