import { Globs } from '../../catalog/globs.ts';
import { withoutVersion } from '../../kernel/model-ids.ts';

/** False where no model has both names; `*` in either stands for any text. Of two patterns only the beginnings are compared. */
export function mayOverlap(one: string, other: string): boolean {
  if (!other.includes('*')) return fits(one, other);
  if (!one.includes('*')) return fits(other, one);
  const [start = '', begin = ''] = [one, other].map((pattern) => pattern.slice(0, pattern.indexOf('*')));
  return start.startsWith(begin) || begin.startsWith(start);
}

/** Prices and vendors name a model with or without its version. */
function fits(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name || withoutVersion(pattern) === withoutVersion(name);
  const globs = new Globs([pattern]);
  return globs.matches(name) || globs.matches(withoutVersion(name));
}
