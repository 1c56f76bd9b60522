import type { BindingField, BuiltinTool, JsonObject, LostField, McpServer } from '../conversation.ts';
import { compact, isObject, objectOf, rest, listOf, stringOf } from '../json/object.ts';

/** The type of the tool that offers the tools of one of `mcp_servers`. */
export const TOOLSET = 'mcp_toolset';

/** The definitions in `mcp_servers` by their names; the first one of a name counts. */
export type Definitions = ReadonlyMap<string, JsonObject>;

export function definitionsIn(servers: unknown): Definitions {
  const definitions = new Map<string, JsonObject>();
  for (const server of listOf(servers) ?? []) {
    const name = isObject(server) ? stringOf(server.name) : undefined;
    if (name !== undefined && !definitions.has(name)) definitions.set(name, server as JsonObject);
  }
  return definitions;
}

/** A toolset as a tool of the conversation. Undefined without a definition of its server that other APIs can express. */
export function decodeToolset(toolset: JsonObject, definitions: Definitions): BuiltinTool | undefined {
  const label = stringOf(toolset.mcp_server_name);
  const definition = label === undefined ? undefined : definitions.get(label);
  const server = definition && serverOf(definition, toolset);
  return server && { type: 'builtin', kind: 'mcp', format: 'anthropic-messages', options: toolset, server };
}

/** A server without a toolset: `mcp-client-2025-04-04` offers its tools all the same. */
export function decodeLoneServer(definition: JsonObject): BuiltinTool | undefined {
  const server = serverOf(definition, {});
  return server && { type: 'builtin', kind: 'mcp', format: 'anthropic-messages', options: definition, server };
}

function serverOf(definition: JsonObject, toolset: JsonObject): McpServer | undefined {
  const [label, url] = [stringOf(definition.name), stringOf(definition.url)];
  if (definition.type !== 'url' || label === undefined || url === undefined) return undefined;
  const binding: BindingField[] = [];
  const allowed = bothOf(allowedBy(toolset, binding), allowedByDefinition(definition));
  const lost = lostOf(toolset);
  return compact({
    label,
    url,
    authorization: stringOf(definition.authorization_token),
    allowed,
    binding: binding.length > 0 ? binding : undefined,
    lost: lost.length > 0 ? lost : undefined,
  });
}

/** Names of the tools that may be called; undefined: all. */
type Allowed = readonly string[] | undefined;

function allowedBy(toolset: JsonObject, binding: BindingField[]): Allowed {
  const byDefault = objectOf(toolset.default_config)?.enabled !== false;
  const configs = Object.entries(objectOf(toolset.configs) ?? {});
  const enabled = new Map(configs.map(([name, config]) => [name, objectOf(config)?.enabled ?? byDefault]));
  const pinned = listOf(toolset.tools);
  if (pinned) {
    const names = pinned.flatMap((tool) => (isObject(tool) ? (stringOf(tool.name) ?? []) : []));
    return names.filter((name) => enabled.get(name) ?? byDefault);
  }
  const names = configs.map(([name]) => name);
  if (!byDefault) return names.filter((name) => enabled.get(name) === true);
  if (names.some((name) => enabled.get(name) === false))
    binding.push({
      field: 'configs',
      reason: 'the target can list the tools that may be called, not those that may not',
    });
  return undefined;
}

/** `tool_configuration` of `mcp-client-2025-04-04`. */
function allowedByDefinition(definition: JsonObject): Allowed {
  const configuration = objectOf(definition.tool_configuration);
  if (configuration?.enabled === false) return [];
  return listOf(configuration?.allowed_tools)?.filter((name) => typeof name === 'string');
}

function bothOf(one: Allowed, other: Allowed): Allowed {
  if (!one || !other) return one ?? other;
  const names = new Set(other);
  return one.filter((name) => names.has(name));
}

const KNOWN = ['type', 'mcp_server_name', 'configs', 'default_config', 'tools'];

function lostOf(toolset: JsonObject): LostField[] {
  const lost: LostField[] = [];
  const { default_config: byDefault, configs, tools } = toolset;
  if (listOf(tools))
    lost.push({ field: 'tools', action: 'downgraded', reason: 'the target asks the server for its tools' });
  const isDeferred = (config: unknown): boolean => objectOf(config)?.defer_loading === true;
  for (const [field, all] of [
    ['default_config', [byDefault]],
    ['configs', Object.values(objectOf(configs) ?? {})],
  ] as const)
    if (all.some(isDeferred))
      lost.push({ field: `${field}.defer_loading`, action: 'downgraded', reason: 'the target gets all tools at once' });
  for (const field of Object.keys(rest(toolset, KNOWN) ?? {}))
    lost.push({ field, action: 'dropped', reason: 'the target has no such field of an MCP server' });
  return lost;
}
