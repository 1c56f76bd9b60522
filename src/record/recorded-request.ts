import { lossesOf, type Attempt } from '../plugin/index.ts';
import { cut } from './cut.ts';
import type { RecordedAttempt } from './record.ts';

const NONE: readonly never[] = [];

/** How the request of an attempt differs from that of the caller. */
export function recordRequest(attempt: Attempt): Pick<RecordedAttempt, 'losses' | 'files' | 'defaulted' | 'estimated'> {
  const { defaulted, resolved } = attempt;
  const losses = lossesOf(attempt);
  return {
    losses: losses.length === 0 ? NONE : losses.map(recordLoss),
    files: recordFiles(attempt),
    defaulted: defaulted?.map(({ param, value }) => ({ param, value })) ?? NONE,
    estimated: resolved?.estimatesTokens ?? false,
  };
}

const recordLoss = ({ param, action, count }: Attempt['losses'][number]): RecordedAttempt['losses'][number] => ({
  param: cut(param),
  action,
  ...(count !== undefined && { count }),
});

/** Several parts may name one file; all of them reach a target in the same way. */
function recordFiles({ storedFiles }: Attempt): RecordedAttempt['files'] {
  if (!storedFiles) return NONE;
  return [...new Map(storedFiles.map(({ id, bytes, way }) => [id, { id, bytes, way }])).values()];
}
