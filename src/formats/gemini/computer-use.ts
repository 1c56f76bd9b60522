import type { Conversation, Tool } from '../conversation.ts';
import type { RequestTarget } from '../format.ts';
import { isComputerUse } from '../open-actions.ts';

/** Path of the tool (places.ts). */
export function placeOfComputerUse(tools: readonly Tool[] | undefined): string | undefined {
  const at = tools?.findIndex(isComputerUse) ?? -1;
  return at < 0 ? undefined : `tools[${at}]`;
}

export const LAX = 'the header x-gateway-strict-open-ai-compliance: false';

/** In the Messages API a call's signature is in its id, for every client. */
export function hidesSignatures({ extrasFormat }: Conversation, { strict }: Pick<RequestTarget, 'strict'>): boolean {
  return strict && extrasFormat !== 'anthropic-messages';
}

/**
 * What a caller of computer use has left out (service.md 2.5), for the message of a refusal. Not refused here: newer models
 * that are no preview of it take the tool as well.
 */
export function hintOfComputerUse(
  conversation: Conversation,
  target: Pick<RequestTarget, 'model' | 'strict'>,
): string | undefined {
  if (placeOfComputerUse(conversation.tools) === undefined) return undefined;
  const missed = hidesSignatures(conversation, target) ? [LAX] : [];
  if (!/computer-use/i.test(target.model))
    missed.unshift(`a model made for it (a computer-use preview), not ${target.model}`);
  return missed.length > 0 ? `The tool computer_use needs ${missed.join(', and ')}.` : undefined;
}
