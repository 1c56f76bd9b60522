import { encodeArguments } from '../call-arguments.ts';
import type { BuiltinTool, Conversation, JsonObject, McpCallPart, McpResultPart, McpServer } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { compact, stringOf } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import type { BodyPlace } from '../losses/place.ts';
import { MCP_AS_TEXT, mcpBlock, mcpText } from '../mcp-parts.ts';
import { ARGUMENTS } from './argument-texts.ts';
import { TOOLSET } from './decode-mcp.ts';
import type { ToolIds } from './tool-ids.ts';

/** The beta of `mcp_servers` and of its blocks (docs/protocols/anthropic-messages.md#mcp-servers). */
export const MCP_BETA = 'mcp-client-2025-11-20';

/** How a choice names a toolset, which has no name. Names of tools have no space. */
const choiceKey = (label: string): string => `${TOOLSET} ${label}`;

/** The name of a tool in a choice. */
export const choiceName = (tool: JsonObject): unknown =>
  tool.type === TOOLSET ? choiceKey(String(tool.mcp_server_name)) : tool.name;

export const isToolsetKey = (name: string | undefined): boolean => name?.startsWith(choiceKey('')) === true;

export const choiceKeyOf = ({ server }: BuiltinTool): string | undefined => server && choiceKey(server.label);

/** The MCP servers of a request in another API: their toolsets, definitions, and the blocks of their calls. */
export class McpServers {
  readonly #conversation: Conversation;
  readonly #host: RequestTarget['host'];
  #sent: ReadonlySet<string> | undefined;
  #chosen: ReadonlyMap<string, McpServer> | undefined;
  /** Most requests have no servers: nothing is made for them. */
  #definitions: Map<string, JsonObject> | undefined;
  /** Ids of calls that are blocks. */
  #calls: Set<string> | undefined;

  constructor(conversation: Conversation, { host }: Pick<RequestTarget, 'host'>) {
    this.#conversation = conversation;
    this.#host = host;
  }

  /** The tool of the request body. Throws RequestFault. */
  toolset(tool: BuiltinTool, path: string, losses: LossReport): JsonObject | undefined {
    if (!tool.server) return undefined;
    if (this.#host !== 'direct') return losses.dropped(path, 'Vertex AI connects Claude to no MCP servers');
    const { label } = tool.server;
    // A choice may name one tool of the server.
    const server = this.#choices().get(label) ?? tool.server;
    const { url, authorization, allowed, binding = [], lost = [] } = server;
    for (const { field, reason } of binding) throw unsupported(`${path}.${field}`, reason);
    if (url === undefined)
      throw new RequestFault('missing_required_parameter', `\`${path}.server_url\` is required.`, `${path}.server_url`);
    const definitions = (this.#definitions ??= new Map<string, JsonObject>());
    if (definitions.has(label))
      throw new RequestFault('invalid_value', `\`${path}\` has the label of another MCP server.`, path);
    for (const { field, action, reason } of lost) losses.add({ param: `${path}.${field}`, action, reason });
    definitions.set(label, compact({ type: 'url', url, name: label, authorization_token: authorization }));
    return { type: TOOLSET, mcp_server_name: label, ...(allowed && onlyThese(allowed)) };
  }

  /** The definitions that these tools need: the API refuses others. */
  definitionsOf(tools: readonly JsonObject[] = []): readonly JsonObject[] | undefined {
    const definitions = this.#definitions;
    if (!definitions) return undefined;
    const found = tools
      .map(({ type, mcp_server_name: name }) => (type === TOOLSET ? definitions.get(String(name)) : undefined))
      .filter((definition) => definition !== undefined);
    return found.length > 0 ? found : undefined;
  }

  /** A call of a server that the request names is a block; any other is text. */
  block(part: McpCallPart | McpResultPart, path: BodyPlace, { ids, losses }: BlockContext): JsonObject {
    const id = part.type === 'mcp_call' ? part.id : part.callId;
    const isBlock = part.type === 'mcp_call' ? this.sends(part.server) : this.#calls?.has(id);
    if (!isBlock) {
      losses.downgraded(path, MCP_AS_TEXT);
      return { type: 'text', text: mcpText(part) };
    }
    const wireId = ids.wire(ownMcpId(id));
    if (part.type === 'mcp_result') return mcpBlock({ ...part, callId: wireId });
    (this.#calls ??= new Set()).add(id);
    return mcpBlock({ ...part, id: wireId }, encodeArguments(part, path, losses, ARGUMENTS));
  }

  get hasBlocks(): boolean {
    return this.#calls !== undefined;
  }

  /** Whether the request offers the tools of the server. */
  sends(label: string): boolean {
    this.#sent ??= this.#labels();
    return this.#sent.has(label);
  }

  #labels(): ReadonlySet<string> {
    const { tools = [], toolChoice } = this.#conversation;
    if (this.#host !== 'direct') return NONE;
    const isOffered = toolChoice?.names === undefined || toolChoice.mode === 'none';
    const labels = tools.flatMap((tool) => (tool.type === 'builtin' && tool.server?.label) || []);
    return new Set(isOffered ? labels : labels.filter((label) => this.#choices().has(label)));
  }

  #choices(): ReadonlyMap<string, McpServer> {
    const hosted = this.#conversation.toolChoice?.hosted ?? [];
    return (this.#chosen ??= new Map(
      hosted.flatMap(({ server }) => (server ? [[server.label, server] as const] : [])),
    ));
  }
}

/** The id of a call as this API has them: OpenAI's begin with `mcp_`. */
export const ownMcpId = (id: string): string => `mcptoolu_${id.replace(/^mcp(?:toolu)?_/, '')}`;

interface BlockContext {
  readonly ids: ToolIds;
  readonly losses: LossReport;
}

const NONE: ReadonlySet<string> = new Set();

const onlyThese = (allowed: readonly string[]): JsonObject => ({
  default_config: { enabled: false },
  ...(allowed.length > 0 && { configs: Object.fromEntries(allowed.map((name) => [name, { enabled: true }])) }),
});

function unsupported(param: string, reason: string): RequestFault {
  return new RequestFault('unsupported_parameter', `\`${param}\`: ${reason}.`, param);
}

/** OpenAI's list of the tools of a server: Claude asks the server itself. */
export const isListing = (value: JsonObject, servers: McpServers): boolean =>
  value.type === 'mcp_list_tools' && servers.sends(stringOf(value.server_label) ?? '');
