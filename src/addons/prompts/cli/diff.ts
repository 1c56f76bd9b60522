import { stringify } from 'yaml';
import type { CompiledVersion } from '../compile.ts';
import { findPrompt, findVersion, readPrompts, type PromptsOptions } from './read.ts';

export interface DiffOptions extends PromptsOptions {
  readonly id: string;
  /** Numbers or labels. */
  readonly from: string;
  readonly to: string;
}

/**
 * `gatehouse prompts diff`: the lines that differ between two versions, each written as YAML with its partials. Exit code
 * 0: printed; 1: errors in the prompts; 2: the folder does not exist.
 */
export async function diffPromptsCommand(options: DiffOptions): Promise<0 | 1 | 2> {
  const { id, from, to, out } = options;
  const read = await readPrompts(options);
  if (typeof read === 'number') return read;
  const prompt = findPrompt(read, id, options);
  const [old, now] = [from, to].map((selector) => prompt && findVersion(prompt, selector, options));
  if (!old || !now) return 1;
  const changed = diffLines(linesOf(old), linesOf(now));
  out(`--- ${id}@${old.number}\n+++ ${id}@${now.number}\n${changed.map((line) => `${line}\n`).join('')}`);
  return 0;
}

function linesOf({ file: { digest: _, ...content }, partials }: CompiledVersion): readonly string[] {
  const texts = Object.fromEntries([...partials].map(([name, { text }]) => [name, text]));
  const whole = partials.size === 0 ? content : { ...content, partials: texts };
  return stringify(whole, { lineWidth: 0 }).trimEnd().split('\n');
}

/** Most pairs of lines that are compared; beyond it, everything between the first and the last difference is shown. */
const MAX_PAIRS = 4_000_000;

/** Lines as `-`, `+` and ` `, by their longest common subsequence. Equal lines at both ends are left out but three. */
export function diffLines(old: readonly string[], now: readonly string[]): readonly string[] {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  if (start === old.length && start === now.length) return [];
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const before = old.slice(Math.max(0, start - CONTEXT), start);
  const after = old.slice(old.length - end).slice(0, CONTEXT);
  return [...before.map((line) => `  ${line}`), ...middle, ...after.map((line) => `  ${line}`)];
}

const CONTEXT = 3;

function between(old: readonly string[], now: readonly string[]): readonly string[] {
  if (old.length * now.length > MAX_PAIRS)
    return [...old.map((line) => `- ${line}`), ...now.map((line) => `+ ${line}`)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(`  ${old[i]}`);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${now[j]}`);
      j += 1;
    }
  }
  return lines;
}
