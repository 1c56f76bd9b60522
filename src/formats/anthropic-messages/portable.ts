import type { Conversation, JsonObject, OpaquePart, Part, Tool, Turn } from '../conversation.ts';
import type { Portable } from '../format.ts';
import type { Origins } from '../losses/origins.ts';
import { messagesOf } from '../losses/places.ts';
import { isOwnOpaque } from './block-fields.ts';
import { decodeLoneServer } from './decode-mcp.ts';
import { LossReport } from '../losses/losses.ts';
import { shownText } from '../json/shown.ts';
import { isObject, objectOf, listOf, stringOf } from '../json/object.ts';

/**
 * A conversation written in this format, for a model that speaks another (docs/protocols/messages-route.md#requests): results of server
 * tools become text, and thoughts of other models are left out.
 */
export function toPortable(given: Conversation, origins?: Origins): Portable {
  const conversation = given.extras?.mcp_servers ? withServers(given, origins) : given;
  const losses = new LossReport();
  const turns: Turn[] = [];
  let at = 0;
  for (const turn of conversation.turns) {
    if (turn.parts.every(isPortable)) turns.push(turn);
    else turns.push(...portableTurn(turn, at, { reported: new Set(), losses, origins }));
    at += messagesOf(turn);
  }
  const { responseFormat } = conversation;
  // Claude's structured output always keeps to its schema; other APIs need `strict` for that
  // (docs/protocols/messages-route.md#strict-format).
  const strict = responseFormat?.type === 'json_schema' ? { responseFormat: { strict: true, ...responseFormat } } : {};
  return { conversation: { ...conversation, turns, ...strict }, losses: losses.list() };
}

/**
 * Servers of `mcp_servers` are tools. One that a toolset offers is in its tool already; any other is offered whole. What no tool
 * expresses stays, and is lost.
 */
function withServers(conversation: Conversation, origins: Origins | undefined): Conversation {
  const { extras = {}, tools = [] } = conversation;
  const { mcp_servers: servers, ...others } = extras;
  const offered = new Set(tools.flatMap((tool) => (tool.type === 'builtin' && tool.server?.label) || []));
  const seen = new Set<string>();
  const lone: Tool[] = [];
  const left = (listOf(servers) ?? []).filter((definition, at) => {
    const name = isObject(definition) ? stringOf(definition.name) : undefined;
    // Names are unique: the first definition counts.
    if (!isObject(definition) || name === undefined || seen.has(name)) return true;
    seen.add(name);
    if (offered.has(name)) return false;
    const tool = decodeLoneServer(definition);
    if (!tool) return true;
    origins?.note(tool, `mcp_servers[${at}]`);
    lone.push(tool);
    return false;
  });
  const isLeft = left.length > 0 || listOf(servers)?.length === 0;
  return {
    ...conversation,
    extras: { ...others, ...(isLeft && { mcp_servers: left }) },
    ...(tools.length + lone.length > 0 && { tools: [...tools, ...lone] }),
  };
}

interface Notes {
  /** Text parts that describe other blocks. */
  readonly reported: Set<Part>;
  readonly losses: LossReport;
  readonly origins: Origins | undefined;
}

/** Drops a turn that held only removed thoughts: other APIs refuse empty turns. */
function portableTurn(turn: Turn, at: number, notes: Notes): Turn[] {
  const placeOf =
    turn.role === 'tool'
      ? (index: number) => `messages[${at + index}]`
      : (index: number) => `messages[${at}].content[${index}]`;
  const read = portableParts(turn.parts, placeOf, notes);
  const parts = turn.role === 'assistant' ? setApart(read, notes) : read;
  if (parts.length === 0 && turn.parts.length > 0) return [];
  const portable = { ...turn, parts };
  notes.origins?.carry(turn, portable);
  return [portable];
}

/** True for most parts, which stay the same objects. */
function isPortable(part: Part): boolean {
  if (part.type === 'tool_result') return part.content.every(isPortable);
  return part.type !== 'opaque' && (part.type !== 'thinking' || part.signature !== undefined);
}

function portableParts(parts: readonly Part[], placeOf: (index: number) => string, notes: Notes): Part[] {
  return parts.flatMap((part, index): Part[] => {
    // The gateway wrote it for the client to see (encode-reply.ts).
    const portable: Part =
      part.type === 'thinking' && part.signature === undefined
        ? { ...part, shown: true }
        : portablePart(part, placeOf(index), notes);
    notes.origins?.carry(part, portable);
    return [portable];
  });
}

function portablePart(part: Part, place: string, notes: Notes): Part {
  if (part.type === 'tool_result') {
    return { ...part, content: portableParts(part.content, (index) => `${place}.content[${index}]`, notes) };
  }
  if (!isOwnOpaque(part) || part.attached) return part;
  const text = textOf(part);
  if (text === undefined) return part;
  notes.losses.downgraded(
    place,
    `only Claude has \`${shownText(stringOf(part.value.type) ?? '')}\` blocks: sent as text`,
  );
  const reported: Part = { type: 'text', text };
  notes.reported.add(reported);
  return reported;
}

/** Other APIs join texts: descriptions have their own lines (docs/protocols/messages-route.md#joined-texts). */
function setApart(parts: readonly Part[], { reported, origins }: Notes): readonly Part[] {
  if (reported.size === 0) return parts;
  const [first, last] = [parts.findIndex(isText), parts.findLastIndex(isText)];
  return parts.map((part, at) => {
    if (part.type !== 'text' || !reported.has(part)) return part;
    const apart = { ...part, text: `${at > first ? '\n' : ''}${part.text}${at < last ? '\n' : ''}` };
    origins?.carry(part, apart);
    return apart;
  });
}

const isText = ({ type }: Part): boolean => type === 'text';

/** The text of a block; undefined for a block without text (a call of a server tool, a file in a container). */
function textOf({ value }: OpaquePart): string | undefined {
  switch (value.type) {
    case 'search_result':
      return lines([stringOf(value.title), stringOf(value.source), contentText(value.content)]);
    case 'document':
      return lines([stringOf(value.title), stringOf(value.context), contentText(objectOf(value.source)?.content)]);
    case 'compaction':
      return contentText(value.content);
    default:
      return typeof value.type === 'string' && value.type.endsWith('_tool_result') ? resultText(value) : undefined;
  }
}

/** `web_search_tool_result`, `code_execution_tool_result` … */
function resultText({ type, content }: JsonObject): string | undefined {
  const tool = (stringOf(type) ?? '').replace(/_tool_result$/, '');
  const text = contentText(content) ?? (content === undefined ? undefined : JSON.stringify(readable(content)));
  return text === undefined ? undefined : `Result of ${tool}: ${text}`;
}

/** The text of a string or of a list of text blocks. Undefined for a list with other blocks. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content === '' ? undefined : content;
  const texts = (listOf(content) ?? []).map((block) =>
    isObject(block) && block.type === 'text' ? stringOf(block.text) : undefined,
  );
  return texts.length > 0 && texts.every((text) => text !== undefined) ? texts.join('\n') : undefined;
}

/** Removes fields that are encrypted for Claude: they are most of the bytes, and noise to any other model. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('encrypted_'));
  return Object.fromEntries(entries.map(([key, inner]) => [key, readable(inner)]));
}

function lines(texts: readonly (string | undefined)[]): string | undefined {
  const present = texts.filter((text) => text !== undefined);
  return present.length > 0 ? present.join('\n') : undefined;
}
