import type { Conversation, JsonObject, Part, Turn } from '../conversation.ts';
import { writeSummary } from '../envelope.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { ReplyFault, type ClientContext, type Format } from '../format.ts';
import type { Origins } from '../losses/origins.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeUsage } from './response-object.ts';

/** The last message for a model without compaction of its own. */
const INSTRUCTION =
  'Stop here and do not answer the conversation above. Write a summary of it that replaces it: the model that continues the work sees the ' +
  'summary and none of the messages. Keep the goal and the instructions of the user, decisions and their reasons, facts, names, ' +
  'numbers, paths and code that are still needed, results of tools, what is done, and what remains to be done. Write the summary only.';

/**
 * `POST /v1/responses/compact` for models of other APIs: an ordinary turn whose answer is a summary, in an envelope that any model can
 * read later (docs/protocols/openai-responses.md#compaction). Tools stay out: calls and their results become text.
 */
export const compaction: Pick<Format, 'decodeRequest' | 'encodeReply' | 'echo'> = {
  decodeRequest(body, origins) {
    const { turns, model, extras, extrasFormat, unread } = decodeRequest(body, origins);
    const asked: Turn = { role: 'user', parts: [{ type: 'text', text: INSTRUCTION }] };
    const shown = turns.map((turn) => asText(turn, origins));
    const conversation: Conversation = { model, turns: [...shown, asked], sampling: {}, stream: false };
    return { ...conversation, ...(extras && { extras, extrasFormat }), ...(unread && { unread }) };
  },
  encodeReply(events, client) {
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    if (text.trim() === '') throw new ReplyFault('the model wrote no summary of the conversation');
    return compactionObject(client, text, usageOf(events));
  },
  echo: () => ({ fields: {}, tools: new Map() }),
};

function compactionObject({ id, created }: ClientContext, summary: string, usage: Usage | undefined): JsonObject {
  const own = id.replace(/^resp_/, '');
  return {
    id,
    object: 'response.compaction',
    created_at: created,
    output: [{ type: 'compaction', id: `cmp_${own}`, encrypted_content: writeSummary(summary) }],
    usage: encodeUsage(usage ?? { input: 0, output: 0, total: 0 }),
  };
}

const usageOf = (events: readonly GenerationEvent[]): Usage | undefined =>
  events.findLast((event) => event.type === 'usage')?.usage;

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
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return [part];
  }
}
