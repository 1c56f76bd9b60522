import type { Conversation, Part, Turn } from '../conversation.ts';

/**
 * The conversation as OpenAI receives it: the texts of an answer, or of a result, are joined
 * (docs/protocols/messages-route.md#joined-texts).
 */
export function withJoinedTexts(conversation: Conversation): Conversation {
  return { ...conversation, turns: conversation.turns.map(joinTurn) };
}

function joinTurn(turn: Turn): Turn {
  if (turn.role === 'assistant') return { ...turn, parts: joinSpoken(turn.parts) };
  return {
    ...turn,
    parts: turn.parts.map((part) =>
      part.type === 'tool_result' ? { ...part, content: join(part.content, '\n') } : part,
    ),
  };
}

/** A single refusal, audio and calls have their own fields. */
function joinSpoken(parts: readonly Part[]): readonly Part[] {
  const isAudio = (part: Part): boolean => part.type === 'opaque' && 'audio' in part.value;
  const refusals = parts.filter(({ type }) => type === 'refusal').length;
  const aside = (part: Part): boolean =>
    part.type === 'tool_call' || isAudio(part) || (part.type === 'refusal' && refusals === 1);
  return [
    ...join(
      parts.filter((part) => !aside(part)),
      '',
    ),
    ...parts.filter(aside),
  ];
}

function join(parts: readonly Part[], between: string): readonly Part[] {
  if (parts.length < 2 || !parts.every((part) => part.type === 'text')) return parts;
  return [{ type: 'text', text: parts.map(({ text }) => text).join(between) }];
}
