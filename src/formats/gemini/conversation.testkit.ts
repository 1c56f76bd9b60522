import type { Conversation, JsonObject, Part, Turn } from '../conversation.ts';
import { toCarrier } from './schema.ts';

/**
 * A conversation as the wire can say it: neighbours of one role are one turn, unsigned empty text is gone, media alone have a
 * blank text, calls are numbered and code has no id (Vertex takes none), schemas are in the wire's dialect. For comparing both sides of a
 * round trip; everything else must come back as it was.
 */
export function canonical(conversation: Conversation): Conversation {
  const { responseFormat, tools } = conversation;
  const ids = new Map<string, string>();
  const turns = mergeTurns(conversation.turns).map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => numbered(part, ids)),
  }));
  return {
    ...conversation,
    turns,
    ...(tools && {
      tools: tools.map((tool) =>
        tool.type === 'function' ? { ...tool, ...schemaOf('parameters', tool.parameters) } : tool,
      ),
    }),
    ...(responseFormat?.type === 'json_schema' && {
      responseFormat: { ...responseFormat, ...schemaOf('schema', responseFormat.schema) },
    }),
  };
}

function schemaOf(name: string, schema: JsonObject | undefined): JsonObject {
  return { [name]: schema && toCarrier(schema).schema };
}

function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const parts = turn.parts.filter((part) => part.type !== 'text' || part.text !== '' || part.signature !== undefined);
    const last = merged.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === turn.role) merged[merged.length - 1] = { ...last, parts: [...last.parts, ...parts] };
    else merged.push({ ...turn, parts });
  }
  // System text alone is sent as what the user says (wire.md D2.1).
  if (merged.every(({ role }) => role === 'system')) return merged.map((turn) => ({ ...turn, role: 'user' }));
  return merged.map((turn) => (turn.role === 'user' ? { ...turn, parts: withBlank(turn.parts) } : turn));
}

function withBlank(parts: readonly Part[]): readonly Part[] {
  const needs = parts.some(({ type }) => type === 'media') && !parts.some(({ type }) => type === 'text');
  return needs ? [...parts, { type: 'text', text: ' ' }] : parts;
}

function numbered(part: Part, ids: Map<string, string>): Part {
  const number = (id: string) => ids.get(id) ?? ids.set(id, `n${ids.size}`).get(id)!;
  if (part.type === 'tool_call') return { ...part, id: number(part.id) };
  if (part.type === 'code' || part.type === 'code_result') {
    const { id: _, ...rest } = part;
    return rest;
  }
  return part.type === 'tool_result' ? { ...part, callId: number(part.callId) } : part;
}
