const CONTEXT = 3;
/** Cells of the table of common lines. Larger changes are shown as one block. */
const MAX_CELLS = 1_000_000;

interface DiffLine {
  readonly op: ' ' | '-' | '+';
  /** With its end of line, which the last line of a text may lack. */
  readonly text: string;
  /** Lines before it, from 0, in both texts. */
  readonly from: number;
  readonly to: number;
}

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The lines of two texts, in an order that makes one of the other. */
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

export interface Patch {
  readonly text: string;
  /** Lines around a change are left out: `git apply` needs `--unidiff-zero`. */
  readonly cut: boolean;
}

/**
 * A unified diff that `git apply` takes; empty for equal texts. Undefined: a line that it would remove has a secret.
 * @param hidden lines of the text before that have a secret, from 1: none of them is in the diff
 */
export function unifiedDiff(
  name: string,
  { before, after }: { readonly before: string; readonly after: string },
  hidden: ReadonlySet<number> = new Set(),
): Patch | undefined {
  const lines = diffLines(before, after);
  const isHidden = ({ op, from }: DiffLine): boolean => op !== '+' && hidden.has(from + 1);
  if (lines.some((line) => line.op === '-' && isHidden(line))) return undefined;
  const changed = lines.flatMap(({ op }, index) => (op === ' ' ? [] : [index]));
  const kept = new Set<number>();
  let cut = false;
  for (const index of changed)
    for (const step of [-1, 1])
      for (let at = index; Math.abs(at - index) <= CONTEXT && at >= 0 && at < lines.length; at += step) {
        if (isHidden(lines[at]!)) {
          cut = true;
          break;
        }
        kept.add(at);
      }
  const hunks = hunksOf([...kept].toSorted((one, other) => one - other)).map((hunk) =>
    hunkText(hunk.map((at) => lines[at]!)),
  );
  if (hunks.length === 0) return { text: '', cut };
  return {
    text: [before === '' ? '--- /dev/null' : `--- a/${name}`, `+++ b/${name}`, ...hunks].join('\n') + '\n',
    cut,
  };
}

function hunksOf(indexes: readonly number[]): readonly (readonly number[])[] {
  const hunks: number[][] = [];
  for (const index of indexes) {
    const last = hunks.at(-1);
    if (last?.at(-1) === index - 1) last.push(index);
    else hunks.push([index]);
  }
  return hunks;
}

function hunkText(lines: readonly DiffLine[]): string {
  const [removed, added] = ['+', '-'].map((other) => lines.filter(({ op }) => op !== other).length);
  const { from, to } = lines[0]!;
  // An empty side is named by the line before it.
  const start = (at: number, size: number | undefined): string => `${size === 0 ? at : at + 1},${size}`;
  const shown = lines.map(({ op, text }) =>
    text.endsWith('\n') ? `${op}${text.slice(0, -1)}` : `${op}${text}\n\\ No newline at end of file`,
  );
  return [`@@ -${start(from, removed)} +${start(to, added)} @@`, ...shown].join('\n');
}
