/** Cells of the table of common lines. Larger changes are shown as one block. */
const MAX_CELLS = 1_000_000;

export interface DiffLine {
  readonly op: ' ' | '-' | '+';
  /** With its end of line, which the last line of a text may lack. */
  readonly text: string;
  /** Lines before it, from 0, in both texts. */
  readonly from: number;
  readonly to: number;
}

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [one, other] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
  let tail = 0;
  const most = Math.min(one.length, other.length) - head;
  while (tail < most && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  const [height, width] = [one.length - head - tail, other.length - head - tail];
  const common = commonLengths(one.slice(head, head + height), other.slice(head, head + width));
  const lines: DiffLine[] = [];
  let [from, to] = [0, 0];
  const add = (op: DiffLine['op'], text: string): void => {
    lines.push({ op, text, from, to });
    if (op !== '+') from += 1;
    if (op !== '-') to += 1;
  };
  while (from < one.length || to < other.length) {
    const [row, column] = [from - head, to - head];
    const isOutside = row < 0 || row >= height || column < 0 || column >= width;
    const isSame = one[from] === other[to] && (isOutside ? row < 0 || row >= height === column >= width : true);
    if (isSame) add(' ', one[from]!);
    else if (row < height && (column >= width || common(row + 1, column) >= common(row, column + 1)))
      add('-', one[from]!);
    else add('+', other[to]!);
  }
  return lines;
}

/** How many lines the ends of two lists have in common, from a row and a column on. */
function commonLengths(one: readonly string[], other: readonly string[]): (row: number, column: number) => number {
  const width = other.length + 1;
  if (one.length * width > MAX_CELLS) return () => 0;
  const cells = new Uint32Array((one.length + 1) * width);
  for (let row = one.length - 1; row >= 0; row -= 1)
    for (let column = other.length - 1; column >= 0; column -= 1)
      cells[row * width + column] =
        one[row] === other[column]
          ? cells[(row + 1) * width + column + 1]! + 1
          : Math.max(cells[(row + 1) * width + column]!, cells[row * width + column + 1]!);
  return (row, column) => cells[row * width + column] ?? 0;
}
