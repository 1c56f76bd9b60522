import type { Conversation, Part, Turn } from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { mcpText } from '../mcp-parts.ts';

/** The last message for a model without compaction of its own. */
const INSTRUCTION =
  'Stop here and do not answer the conversation above. Write a summary of it that replaces it: the model that continues the work sees the ' +
  'summary and none of the messages. Keep the goal and the instructions of the user, decisions and their reasons, facts, names, ' +
  'numbers, paths and code that are still needed, results of tools, what is done, and what remains to be done. Write the summary only.';

/** The request for a summary (docs/protocols/openai-responses.md#compaction). Calls and results become text. */
export function askForSummary(given: Conversation, origins: Origins | undefined): Conversation {
  const { turns, model, stream, extras, extrasFormat, unread } = given;
  const asked: Turn = { role: 'user', parts: [{ type: 'text', text: INSTRUCTION }] };
  const shown = turns.map((turn) => asText(turn, origins));
  const conversation: Conversation = { model, turns: [...shown, asked], sampling: {}, stream };
  return { ...conversation, ...(extras && { extras, extrasFormat }), ...(unread && { unread }) };
}

function asText(turn: Turn, origins: Origins | undefined): Turn {
  const parts = turn.parts.flatMap((part) => textsOf(part));
  // APIs refuse a turn without parts.
  const kept: readonly Part[] = parts.length > 0 ? parts : [{ type: 'text', text: '(nothing that can be shown)' }];
  const written: Turn = { role: turn.role === 'tool' ? 'user' : turn.role, parts: kept };
  origins?.carry(turn, written);
  return written;
}

/** Thoughts stay out: a summary needs none, and their signatures belong to their maker. */
function textsOf(part: Part): readonly Part[] {
  switch (part.type) {
    case 'tool_call':
      return [{ type: 'text', text: `[Call of the tool ${part.name}: ${part.arguments}]` }];
    case 'tool_result':
      return [
        { type: 'text', text: `[Result of the tool ${part.name ?? part.callId}:]` },
        ...part.content.flatMap(textsOf),
      ];
    case 'mcp_call':
    case 'mcp_result':
      return [{ type: 'text', text: mcpText(part) }];
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return [part];
  }
}
