import type { Loss } from '../formats/conversation.ts';

/** How many losses a list is about: an entry may stand for several that have no names (formats/losses.ts). */
export function countLosses(losses: readonly Pick<Loss, 'count'>[]): number {
  return losses.reduce((sum, { count = 1 }) => sum + count, 0);
}
