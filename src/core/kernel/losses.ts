import type { Loss } from '../../formats/conversation.ts';
import type { Attempt } from './attempt.ts';

/** The number of losses in a list: one entry may stand for several unnamed ones (formats/losses/losses.ts). */
export function countLosses(losses: readonly Pick<Loss, 'count'>[]): number {
  return losses.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** The losses of an attempt so far: in the request to the target and in the reply to the client. */
export function lossesOf({ losses, signals }: Pick<Attempt, 'losses' | 'signals'>): readonly Loss[] {
  return signals?.losses ? [...losses, ...signals.losses] : losses;
}
