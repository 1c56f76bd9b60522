import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Problem } from '../kernel/report.ts';
import { reportRestartOnly } from './restart-only.ts';

/** Reported of a reload from `running` to `next`. */
export function restartProblems(running: ServerFile, next: ServerFile): readonly Problem[] {
  const found: Problem[] = [];
  reportRestartOnly(running, next, (problem) => void found.push(problem));
  return found;
}

/** The keys of such a reload that need a restart. */
export const restartKeys = (running: ServerFile, next: ServerFile): readonly string[] =>
  restartProblems(running, next).map(({ path }) => path.join('.'));
