import { lossesOf, type Attempt } from '../../plugin/index.ts';
import { cut } from './cut.ts';
import type { RecordedAttempt } from './record.ts';

const NONE: readonly never[] = [];

/** What the request of an attempt lost of the caller's. */
export function recordLosses(attempt: Attempt): RecordedAttempt['losses'] {
  const losses = lossesOf(attempt);
  return losses.length === 0 ? NONE : losses.map(recordLoss);
}

const recordLoss = ({ param, action, count }: Attempt['losses'][number]): RecordedAttempt['losses'][number] => ({
  param: cut(param),
  action,
  ...(count !== undefined && { count }),
});

export const isEstimated = ({ resolved }: Attempt): boolean => resolved?.estimatesTokens ?? false;

export const recordDefaulted = ({ defaulted }: Attempt): RecordedAttempt['defaulted'] =>
  defaulted?.map(({ param, value }) => ({ param, value })) ?? NONE;

/** Several parts may name one file; all of them reach a target in the same way. */
export function recordFiles({ storedFiles }: Attempt): RecordedAttempt['files'] {
  if (!storedFiles) return NONE;
  return [...new Map(storedFiles.map(({ id, bytes, way }) => [id, { id, bytes, way }])).values()];
}
