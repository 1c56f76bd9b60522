import { diffLines } from '../../drafts/diff-lines.ts';

/** Equal lines that are shown around the differences. */
const CONTEXT = 3;

/** The lines of two texts that differ, as `- old`, `+ new` and `  same`; `…` stands for equal lines that are left out. */
export function differing(old: readonly string[], now: readonly string[]): readonly string[] {
  const [before, after] = [old, now].map((lines) => lines.map((line) => `${line}\n`).join(''));
  const lines = diffLines(before!, after!);
  const changed = lines.flatMap(({ op }, at) => (op === ' ' ? [] : [at]));
  let last = -1;
  let next = 0;
  const shown = lines.flatMap(({ op, text }, at) => {
    while (changed[next] !== undefined && changed[next]! + CONTEXT < at) next += 1;
    if (changed[next] === undefined || changed[next]! - CONTEXT > at) return [];
    const gap = at > last + 1 ? ['…'] : [];
    last = at;
    return [...gap, `${op} ${text.replace(/\n$/, '')}`];
  });
  return shown.length > 0 && last < lines.length - 1 ? [...shown, '…'] : shown;
}

/** A JSON value as lines; none for null. */
export const linesOf = (value: unknown): readonly string[] =>
  value === null || value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');
