import type { OpaquePart, Turn } from './conversation.ts';
import type { LossReport } from './losses/losses.ts';
import type { BodyPlace } from './losses/place.ts';

/**
 * Blocks that are no content: those that name tools, which stand in `tools` of the request, and outputs of calls that the target does not
 * get either.
 */
const NO_CONTENT = /^tool_(?:reference|addition|removal)$|_output$/;

/**
 * Reports a part that the target does not understand. A part of the caller's message is content that nothing can
 * replace. A block of an answer is the provider's own, and the answer goes on without it.
 * @param role of the turn; `tool` for a part of a result
 */
export function loseOpaque(
  { format, value, attached }: OpaquePart,
  place: BodyPlace,
  role: Turn['role'],
  losses: LossReport,
): undefined {
  const reason = `only ${format} has this part`;
  if (role === 'assistant' || attached || NO_CONTENT.test(String(value.type))) losses.dropped(place, reason);
  else losses.unreadable(place, reason);
}
