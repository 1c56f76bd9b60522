import type { OpaquePart, Turn } from './conversation.ts';
import type { LossReport } from './losses/losses.ts';
import type { BodyPlace } from './losses/place.ts';

/** Blocks that are no content: those that name tools, and outputs of calls that the target does not get either. */
const NO_CONTENT = /^tool_(?:reference|addition|removal)$|_output$/;

/** @param role of the turn; `tool` for a part of a result */
export function loseOpaque(
  { format, value, attached }: OpaquePart,
  place: BodyPlace,
  role: Turn['role'],
  losses: LossReport,
): undefined {
  const isContent = !attached && !NO_CONTENT.test(String(value.type));
  losses.unsent(place, `only ${format} has this part`, isContent ? role : 'assistant');
}
