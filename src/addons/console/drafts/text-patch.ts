import { diff } from 'node:util';

const CONTEXT = 3;

/** A unified diff of two texts. Both end with a line break, or are empty. */
export function textPatch(name: string, before: string, after: string): string {
  const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  // `diff` tells what the first text has and the second has not as 1.
  const rows = diff(linesOf(before), linesOf(after)).map(([sign, line]) => ({ sign, line }));
  const hunks: string[] = [];
  for (let at = rows.findIndex(({ sign }) => sign !== 0); at >= 0;) {
    const from = Math.max(0, at - CONTEXT);
    let end = at;
    for (let index = at; index < rows.length && index <= end + 2 * CONTEXT; index += 1)
      if (rows[index]!.sign !== 0) end = index;
    const shown = rows.slice(from, end + 1 + CONTEXT);
    const [old, now] = [1, -1].map((sign) => shown.filter((row) => row.sign === 0 || row.sign === sign).length);
    const [oldAt, nowAt] = [1, -1].map(
      (sign) => rows.slice(0, from).filter((row) => row.sign === 0 || row.sign === sign).length,
    );
    const lines = shown.map(({ sign, line }) => `${sign === 0 ? ' ' : sign > 0 ? '-' : '+'}${line}`);
    hunks.push(`@@ -${rangeOf(oldAt!, old!)} +${rangeOf(nowAt!, now!)} @@`, ...lines);
    at = rows.findIndex(({ sign }, index) => index > end && sign !== 0);
  }
  if (hunks.length === 0) return '';
  return [before === '' ? '--- /dev/null' : `--- a/${name}`, `+++ b/${name}`, ...hunks, ''].join('\n');
}

/** An empty side begins at the line before it. */
const rangeOf = (before: number, lines: number): string => `${lines === 0 ? before : before + 1},${lines}`;
