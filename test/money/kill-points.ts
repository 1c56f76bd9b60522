import { join } from 'node:path';
import { randomOf } from './random.ts';

/** Where a process kills itself. */
export interface KillPoint {
  readonly name: string;
  /** The process may have a lease that its spool does not name yet: after its grant, and until the first segment is written. */
  readonly isBeforeNote: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The steps of the money of a request, in their order: what budgets reserve, the note that it is about to leave, the write of the spool (and
 * a half of it), what its end settles, its rows, their way to the store, the commit in the store's thread, and what budgets report.
 */
export const STEPS = [
  { step: 'reserve', moments: ['before', 'after'], most: 20 },
  { step: 'send', moments: ['before', 'after'], most: 20 },
  { step: 'spool', moments: ['before', 'half', 'after'], most: 40 },
  { step: 'segment', moments: ['before', 'after'], most: 1 },
  { step: 'settle', moments: ['before', 'after'], most: 20 },
  { step: 'note settle', moments: ['before', 'after'], most: 20 },
  { step: 'record', moments: ['before', 'after'], most: 20 },
  { step: 'append', moments: ['before', 'sent', 'after'], most: 12 },
  { step: 'commit', moments: ['before', 'after'], most: 20 },
  { step: 'take', moments: ['before', 'sent', 'after'], most: 1 },
  { step: 'report', moments: ['before', 'sent', 'after'], most: 3 },
] as const;

export type KillStep = (typeof STEPS)[number]['step'];
export type KillMoment = (typeof STEPS)[number]['moments'][number];

const PRELOAD = join(import.meta.dirname, 'kill-at.ts');

export const killPoint = (step: KillStep, moment: KillMoment, nth: number): KillPoint => ({
  name: `${step}, ${moment}, number ${nth}`,
  // A commit may be that of the grant.
  isBeforeNote: ['take', 'segment', 'commit'].includes(step) || (step === 'spool' && nth === 1),
  env: { NODE_OPTIONS: `--import ${PRELOAD}`, GATEHOUSE_KILL_AT: JSON.stringify({ step, moment, nth }) },
});

/** So many points, all steps and moments in turn, each at an occurrence that the seed chooses. */
export function killPoints(count: number, seed: number): readonly KillPoint[] {
  const random = randomOf(seed);
  const kinds = STEPS.flatMap(({ step, moments, most }) => moments.map((moment) => ({ step, moment, most })));
  return Array.from({ length: count }, (_, index) => {
    const { step, moment, most } = kinds[index % kinds.length]!;
    return killPoint(step, moment, 1 + Math.floor(random() * most));
  });
}
