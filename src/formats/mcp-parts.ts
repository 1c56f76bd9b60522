import { answeredArguments } from './call-arguments.ts';
import type { JsonObject, McpCallPart, McpResultPart, Part } from './conversation.ts';
import { compact, isObject, rest, booleanOf, listOf, stringOf } from './json/object.ts';

/**
 * Calls of MCP servers and their results as blocks of the Messages API (docs/protocols/anthropic-messages.md#mcp-servers), which are
 * `content_blocks` of the chat API too, and as text.
 */

const CALL = ['type', 'id', 'name', 'server_name', 'input', 'cache_control'];
const RESULT = ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'];

type McpPart = McpCallPart | McpResultPart;

/** Undefined for a block of another type, and for one without its ids and names. */
export function mcpPart(block: JsonObject): McpPart | undefined {
  if (block.type === 'mcp_tool_use') return callOf(block);
  return block.type === 'mcp_tool_result' ? resultOf(block) : undefined;
}

function callOf(block: JsonObject): McpCallPart | undefined {
  const [id, name, server] = [stringOf(block.id), stringOf(block.name), stringOf(block.server_name)];
  if (id === undefined || name === undefined || server === undefined) return undefined;
  const extras = rest(block, CALL);
  return compact({ type: 'mcp_call' as const, id, server, name, arguments: JSON.stringify(block.input ?? {}), extras });
}

function resultOf(block: JsonObject): McpResultPart | undefined {
  const callId = stringOf(block.tool_use_id);
  if (callId === undefined) return undefined;
  const [isError, extras] = [booleanOf(block.is_error), rest(block, RESULT)];
  return compact({ type: 'mcp_result' as const, callId, content: contentOf(block.content), isError, extras });
}

function contentOf(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (listOf(content) ?? []).filter(isObject).map((value): Part => {
    const text =
      value.type === 'text' && rest(value, ['type', 'text']) === undefined ? stringOf(value.text) : undefined;
    return text === undefined ? { type: 'opaque', format: 'anthropic-messages', value } : { type: 'text', text };
  });
}

/** @param input of a call. Default: its arguments. */
export function mcpBlock(part: McpPart, input?: unknown): JsonObject {
  if (part.type === 'mcp_result') {
    const { callId: tool_use_id, isError: is_error, extras } = part;
    return compact({ type: 'mcp_tool_result', tool_use_id, is_error, content: contentBlocks(part), ...extras });
  }
  const { id, name, server, extras } = part;
  const given = input ?? (part.arguments.trim() === '' ? {} : answeredArguments(part.arguments));
  return { type: 'mcp_tool_use', id, name, server_name: server, input: given, ...extras };
}

const contentBlocks = ({ content }: McpResultPart): JsonObject[] =>
  content.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    return part.type === 'opaque' && part.format === 'anthropic-messages' ? [part.value] : [];
  });

/** A server's answer as one text. */
export const mcpOutput = ({ content }: McpResultPart): string =>
  content
    .map((part) => (part.type === 'text' ? part.text : part.type === 'opaque' ? JSON.stringify(part.value) : ''))
    .join('\n');

/** For models that get no MCP servers, so that they know what was done. */
export function mcpText(part: McpPart): string {
  if (part.type === 'mcp_call')
    return `[Call of the tool ${part.name} of the MCP server ${part.server}: ${part.arguments || '{}'}]`;
  return `[Result of the MCP server${part.isError ? ' (failed)' : ''}:]\n${mcpOutput(part)}`;
}

/** Reason of the loss. */
export const MCP_AS_TEXT = 'the target does not get this MCP server: it reads the call as text';
