import { diff } from 'node:util';
import { stringify } from 'yaml';
import type { CompiledVersion } from '../compile.ts';
import { findVersion, withPrompts, type PromptsOptions } from './read.ts';

interface DiffOptions extends PromptsOptions {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

export function diffPromptsCommand(options: DiffOptions): Promise<0 | 1 | 2> {
  const { id, from, to, out } = options;
  return withPrompts(options, (library) => {
    const { version: old } = findVersion(library, id, from);
    const { version: now } = findVersion(library, id, to);
    const changed = diffLines(linesOf(old), linesOf(now));
    out(`--- ${id}@${old.number}\n+++ ${id}@${now.number}\n${changed.map((line) => `${line}\n`).join('')}`);
  });
}

function linesOf({ file: { digest: _, ...content }, partials }: CompiledVersion): readonly string[] {
  const texts = Object.fromEntries([...partials].map(([name, { text }]) => [name, text]));
  const whole = partials.size === 0 ? content : { ...content, partials: texts };
  return stringify(whole, { lineWidth: 0 }).trimEnd().split('\n');
}

const CONTEXT = 3;

/** Lines as `-`, `+` and ` `, from the first difference to the last. */
export function diffLines(old: readonly string[], now: readonly string[]): readonly string[] {
  const entries = diff(old, now);
  const first = entries.findIndex(([change]) => change !== 0);
  const last = entries.findLastIndex(([change]) => change !== 0);
  if (first === -1) return [];
  return entries
    .slice(Math.max(0, first - CONTEXT), last + 1 + CONTEXT)
    .map(([change, line]) => `${change === 0 ? ' ' : change > 0 ? '-' : '+'} ${line}`);
}
