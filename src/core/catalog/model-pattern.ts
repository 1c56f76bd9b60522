import { foldCase } from '../kernel/index.ts';

/** Whether a model has the name that a pattern describes; `*` stands for any text. Each part is looked for behind the one before. */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  if (parts.length === 0) return pattern === text;
  const last = parts.pop()!;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

/** A name, or a pattern of names, as budgets and limits compare it: a server may take `OUT-50` and `"out-50 "` for `out-50`. */
export const comparedName = (name: string): string => foldCase(name.trim());
