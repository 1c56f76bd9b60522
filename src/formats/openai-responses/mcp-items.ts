import type { JsonObject, McpCallPart, McpResultPart, McpServer } from '../conversation.ts';
import { compact, isObject, objectOf, stringOf } from '../json/object.ts';
import { mcpOutput } from '../mcp-parts.ts';

/**
 * The call and the result that an item `mcp_call` is (docs/protocols/openai-responses.md#mcp-servers). Undefined for an item without
 * its names.
 * @param id for an item without one
 */
export function mcpParts(item: JsonObject, id: string): readonly [McpCallPart, McpResultPart] | undefined {
  const [server, name] = [stringOf(item.server_label), stringOf(item.name)];
  if (server === undefined || name === undefined) return undefined;
  const callId = stringOf(item.id) ?? id;
  const error = errorOf(item.error);
  const text = error ?? stringOf(item.output) ?? '';
  const isError = error !== undefined || item.status === 'failed' || item.status === 'incomplete';
  return [
    { type: 'mcp_call', id: callId, server, name, arguments: stringOf(item.arguments) ?? '' },
    { type: 'mcp_result', callId, content: text === '' ? [] : [{ type: 'text', text }], isError },
  ];
}

/** A text, or an object with a message (recorded: `{type: http_error, code, message}`). */
function errorOf(error: unknown): string | undefined {
  if (error === null || error === undefined) return undefined;
  return stringOf(error) ?? stringOf(objectOf(error)?.message) ?? JSON.stringify(error);
}

/** The fields of an item besides its id. Without a result: `status` says why there is none. */
export function mcpFields(
  { server, name, arguments: args }: McpCallPart,
  result: McpResultPart | undefined,
  status = result ? (result.isError ? 'failed' : 'completed') : 'incomplete',
): JsonObject {
  const text = result && mcpOutput(result);
  return {
    type: 'mcp_call',
    status,
    approval_request_id: null,
    arguments: args,
    error: result?.isError ? (text ?? '') : null,
    name,
    output: result && !result.isError ? (text ?? '') : null,
    server_label: server,
  };
}

/** The id of a call as this API has them: Claude's begin with `mcptoolu_`. */
export const ownMcpId = (id: string): string => `mcp_${id.replace(/^mcp(?:toolu)?_/, '')}`;

/** A tool for a server that another API named. The provider is to call it without asking. */
export const mcpTool = ({ label, url, authorization, allowed }: McpServer): JsonObject =>
  compact({
    type: 'mcp',
    server_label: label,
    server_url: url,
    authorization,
    allowed_tools: allowed,
    require_approval: 'never',
  });

const REDACTED = '<redacted>';

/** The tool as a response repeats it: OpenAI shows no secrets of a server (recorded). */
export function withoutSecrets(tool: JsonObject): JsonObject {
  const { authorization, headers, server_url: url } = tool;
  return {
    ...tool,
    ...(typeof authorization === 'string' && { authorization: REDACTED }),
    ...(isObject(headers) && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED])) }),
    ...(typeof url === 'string' && { server_url: hostOf(url) }),
  };
}

/** Paths, queries and user names hold keys. */
function hostOf(url: string): string {
  if (!URL.canParse(url)) return REDACTED;
  const { origin, href } = new URL(url);
  return href === `${origin}/` ? url : `${origin}/${REDACTED}`;
}
