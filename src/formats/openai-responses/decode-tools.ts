import type { BuiltinTool, JsonObject, Tool, BindingField, LostField, McpServer } from '../conversation.ts';
import { compact, isObject, objectOf, rest, booleanOf, stringOf, listOf } from '../json/object.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { listAt, objectAt, textAt } from './read.ts';

/** Tools that the provider runs and that other formats have too. All others are specific to this format. */
const BUILTIN: readonly (readonly [RegExp, BuiltinTool['kind']])[] = [
  [/^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/, 'web_search'],
  [/^code_interpreter$/, 'code_execution'],
  [/^image_generation$/, 'image_generation'],
  [/^mcp$/, 'mcp'],
];

export const builtinKind = (type: string): BuiltinTool['kind'] =>
  BUILTIN.find(([pattern]) => pattern.test(type))?.[1] ?? 'opaque';

/** The name that a tool search run by the client has for models of other formats. */
export const TOOL_SEARCH = 'tool_search';

export function decodeTools(tools: unknown, path: ParamPath, origins: Origins | undefined): Tool[] {
  const decoded: Tool[] = [];
  listAt(tools, path).forEach((item, at) => {
    const place = BodyPlace.item(path, at);
    const tool = objectAt(item, place);
    if (tool.type !== 'namespace') return add(decodeTool(tool, place), place);
    const namespace = textAt(tool, place, 'name');
    listAt(tool.tools, BodyPlace.field(place, 'tools')).forEach((inner, index) => {
      const here = BodyPlace.itemOf(place, 'tools', index);
      const member = decodeTool(objectAt(inner, here), here);
      add(member.type === 'builtin' ? member : { ...member, namespace }, here);
    });
  });
  return decoded;

  function add(tool: Tool, place: BodyPlace): void {
    origins?.note(tool, place);
    decoded.push(tool);
  }
}

function decodeTool(tool: JsonObject, path: BodyPlace): Tool {
  const type = textAt(tool, path, 'type');
  switch (type) {
    case 'function':
      return compact({
        type,
        name: textAt(tool, path, 'name'),
        description: stringOf(tool.description),
        parameters: objectOf(tool.parameters),
        strict: booleanOf(tool.strict),
        extras: rest(tool, ['type', 'name', 'description', 'parameters', 'strict']),
      });
    case 'custom':
      return compact({
        type,
        name: textAt(tool, path, 'name'),
        description: stringOf(tool.description),
        format: nestedFormat(objectOf(tool.format)),
      });
    case 'tool_search':
      // The client runs the search: any model can call it as a function.
      if (tool.execution === 'client')
        return compact({
          type: 'function' as const,
          name: TOOL_SEARCH,
          description: stringOf(tool.description),
          parameters: objectOf(tool.parameters),
          search: true,
        });
  }
  const kind = builtinKind(type);
  if (kind === 'mcp')
    return { type: 'builtin', kind, options: tool, format: 'openai-responses', server: decodeServer(tool, path) };
  const options = kind === 'code_execution' ? withoutContainer(tool) : tool;
  return { type: 'builtin', kind, options, ...(kind === 'opaque' && { format: 'openai-responses' }) };
}

/** The API demands a container, and other APIs have none to choose: a new one asks for nothing. */
function withoutContainer(tool: JsonObject): JsonObject {
  const { container, ...others } = tool;
  return isObject(container) && rest(container, ['type']) === undefined && container.type === 'auto' ? others : tool;
}

/** The chat API, whose form the conversation has, nests a grammar. This one does not. */
function nestedFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format?.type !== 'grammar' || format.grammar !== undefined) return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

const KNOWN = [
  'type',
  'server_label',
  'server_url',
  'connector_id',
  'tunnel_id',
  'authorization',
  'headers',
  'allowed_tools',
  'require_approval',
];

/** The server of a tool `mcp` (docs/protocols/openai-responses.md#mcp-servers). */
function decodeServer(tool: JsonObject, path: BodyPlace): McpServer {
  const binding: BindingField[] = [];
  const bind = (field: string, reason: string): void => void binding.push({ field, reason });
  if (tool.require_approval !== 'never')
    bind(
      'require_approval',
      'the target calls the tools of a server without asking, so only `never` can be translated',
    );
  for (const field of ['connector_id', 'tunnel_id'])
    if ((tool[field] ?? undefined) !== undefined) bind(field, 'only OpenAI reaches this server');
  const authorization = authorizationOf(tool);
  if (authorization === undefined && Object.keys(objectOf(tool.headers) ?? {}).length > 0)
    bind('headers', 'the target sends no headers of the caller to a server');
  const allowed = allowedOf(tool.allowed_tools, bind);
  const lost = lostOf(tool);
  return compact({
    label: textAt(tool, path, 'server_label'),
    url: stringOf(tool.server_url),
    authorization: authorization || undefined,
    allowed,
    binding: binding.length > 0 ? binding : undefined,
    lost: lost.length > 0 ? lost : undefined,
  });
}

/** A bearer token is a header or a field of its own. Undefined: the headers say more than that. `''`: there is none. */
function authorizationOf({ authorization, headers }: JsonObject): string | undefined {
  const given = Object.entries(objectOf(headers) ?? {});
  const token = stringOf(authorization);
  if (given.length === 0) return token ?? '';
  const [[name, value] = ['', ''], ...others] = given;
  if (token !== undefined || others.length > 0 || name.toLowerCase() !== 'authorization') return undefined;
  return /^Bearer +(\S+)$/i.exec(stringOf(value) ?? '')?.[1];
}

function allowedOf(given: unknown, bind: (field: string, reason: string) => void): readonly string[] | undefined {
  const names = isObject(given) ? given.tool_names : given;
  if (isObject(given) && (given.read_only ?? undefined) !== undefined)
    bind('allowed_tools.read_only', 'the target does not know which tools only read');
  return listOf(names)?.filter((name) => typeof name === 'string');
}

/** Fields that only tell the model more, or spare tokens. */
function lostOf(tool: JsonObject): LostField[] {
  return Object.entries(rest(tool, KNOWN) ?? {}).flatMap(([field, value]): LostField[] => {
    if (field === 'defer_loading')
      return value === true ? [{ field, action: 'downgraded', reason: 'the target gets all tools at once' }] : [];
    const callers = field === 'allowed_callers' ? listOf(value) : undefined;
    if (callers?.length === 1 && callers[0] === 'direct') return [];
    return [{ field, action: 'dropped', reason: 'the target has no such field of an MCP server' }];
  });
}
