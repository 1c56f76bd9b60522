/** Cells of the table that finds the longest common lines: with more, all lines of the changed part are old or new. */
const MOST_CELLS = 250_000;
/** Lines around the differences. */
const CONTEXT = 3;

/** The lines of two texts that differ, as `- old`, `+ new` and `  same`; `…` stands for equal lines that are left out. */
export function diffLines(old: readonly string[], now: readonly string[]): readonly string[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = changed(old.slice(start, old.length - end), now.slice(start, now.length - end));
  if (middle.length === 0) return [];
  const same = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
  return [
    ...(start > CONTEXT ? ['…'] : []),
    ...same(old.slice(Math.max(0, start - CONTEXT), start)),
    ...middle,
    ...same(old.slice(old.length - end, old.length - end + CONTEXT)),
    ...(end > CONTEXT ? ['…'] : []),
  ];
}

/** By the longest common subsequence. */
function changed(old: readonly string[], now: readonly string[]): readonly string[] {
  const width = now.length + 1;
  if ((old.length + 1) * width > MOST_CELLS)
    return [...old.map((line) => `- ${line}`), ...now.map((line) => `+ ${line}`)];
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  for (let row = 0, column = 0; row < old.length || column < now.length;) {
    const isSame = row < old.length && column < now.length && old[row] === now[column];
    const isOld = column === now.length || (row < old.length && at(row + 1, column) >= at(row, column + 1));
    if (isSame) lines.push(`  ${old[row]}`);
    else lines.push(isOld ? `- ${old[row]}` : `+ ${now[column]}`);
    if (isSame || isOld) row += 1;
    if (isSame || !isOld) column += 1;
  }
  return lines;
}

/** A JSON value as lines; none for null. */
export const linesOf = (value: unknown): readonly string[] =>
  value === null || value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');
