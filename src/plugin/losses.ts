import type { Loss } from '../formats/conversation.ts';
import type { Attempt } from './exchange.ts';

/** How many losses a list is about: an entry may stand for several that have no names (formats/losses/losses.ts). */
export function countLosses(losses: readonly Pick<Loss, 'count'>[]): number {
  return losses.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** What an attempt has lost so far: of the request on its way to the target, and of the reply on its way to the client. */
export function lossesOf({ losses, signals }: Pick<Attempt, 'losses' | 'signals'>): readonly Loss[] {
  return signals?.losses ? [...losses, ...signals.losses] : losses;
}
