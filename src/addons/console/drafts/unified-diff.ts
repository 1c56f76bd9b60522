import { diffLines, type DiffLine } from './diff-lines.ts';

const CONTEXT = 3;

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
