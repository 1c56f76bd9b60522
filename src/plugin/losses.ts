import type { Loss } from '../formats/conversation.ts';
import type { Attempt } from './exchange.ts';

/** What an attempt has lost so far: of the request on its way to the target, and of the reply on its way to the client. */
export function lossesOf({ losses, signals }: Pick<Attempt, 'losses' | 'signals'>): readonly Loss[] {
  return signals?.losses ? [...losses, ...signals.losses] : losses;
}
