import type { BindingField, JsonObject, LostField, McpServer } from '../conversation.ts';
import { compact } from '../json/compact.ts';
import { isObject, objectOf, rest } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';
import type { BodyPlace } from '../losses/place.ts';
import { textAt } from './read.ts';

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
export function decodeServer(tool: JsonObject, path: BodyPlace): McpServer {
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
