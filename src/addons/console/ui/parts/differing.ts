import { diffLines } from '../../drafts/diff-lines.ts';

/** Equal lines that are shown around the differences. */
const CONTEXT = 3;

/** The lines of two texts that differ, as `- old`, `+ new` and `  same`; `…` stands for equal lines that are left out. */
export function differing(old: readonly string[], now: readonly string[]): readonly string[] {
  const [before, after] = [old, now].map((lines) => lines.map((line) => `${line}\n`).join(''));
  const lines = diffLines(before!, after!).map(({ op, text }) => ({ op, line: `${op} ${text.replace(/\n$/, '')}` }));
  const changed = lines.flatMap(({ op }, at) => (op === ' ' ? [] : [at]));
  /** A mark is as high as one line. */
  const leftOut = (from: number, to: number): readonly string[] =>
    to - from === 1 ? [lines[from]!.line] : to > from ? ['…'] : [];
  let shownTo = 0;
  let next = 0;
  const shown = lines.flatMap(({ line }, at) => {
    while (changed[next] !== undefined && changed[next]! + CONTEXT < at) next += 1;
    if (changed[next] === undefined || changed[next]! - CONTEXT > at) return [];
    const gap = leftOut(shownTo, at);
    shownTo = at + 1;
    return [...gap, line];
  });
  return shown.length > 0 ? [...shown, ...leftOut(shownTo, lines.length)] : shown;
}

/** A JSON value as lines; none for null. */
export const linesOf = (value: unknown): readonly string[] =>
  value === null || value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');
