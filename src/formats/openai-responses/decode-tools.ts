import type { BuiltinTool, JsonObject, Tool } from '../conversation.ts';
import { compact } from '../json/compact.ts';
import { isObject, objectOf, rest } from '../json/object.ts';
import { booleanOf, stringOf } from '../json/read.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { decodeServer } from './decode-mcp.ts';
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
