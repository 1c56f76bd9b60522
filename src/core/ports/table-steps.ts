import { createHash } from 'node:crypto';
import { StateFailure } from './failures.ts';

/**
 * A step of the tables of a store. A step that has been released is never edited: stores remember its checksum. Steps
 * only add until two releases later, so that one release before and after can run on one store. Statements name their
 * columns, so that they stay valid then.
 */
export interface TableStep {
  /** From 1, without gaps. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

export const checksum = ({ sql }: TableStep): string => createHash('sha256').update(sql).digest('hex');

export interface AppliedStep {
  readonly number: number;
  readonly sha256: string;
}

/** The steps that a store lacks. Rejects a store of a later release, and one that has other steps. */
export function missingOf(applied: readonly AppliedStep[], steps: readonly TableStep[]): readonly TableStep[] {
  for (const { number, sha256 } of applied) {
    const known = steps[number - 1];
    if (!known)
      throw new StateFailure(
        'newer_store',
        `a later release has written the store: it has step ${number} of its tables, this release knows ${steps.length}`,
      );
    if (checksum(known) !== sha256)
      throw new StateFailure(
        'damaged',
        `step ${number} of the tables ("${known.name}") is not the one that this release knows`,
      );
  }
  return steps.slice(applied.length);
}
