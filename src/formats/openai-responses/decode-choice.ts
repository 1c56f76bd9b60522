import type { BuiltinTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import { stringOf } from '../json/read.ts';
import { builtinKind, TOOL_SEARCH } from './decode-tools.ts';
import { invalid, listAt, objectAt, textAt } from './read.ts';

/** `tool_choice` of a body with these tools (docs/protocols/openai-responses.md#request). */
export function decodeToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') {
    if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice };
    throw invalid('tool_choice', 'must be none, auto, required or an object');
  }
  const object = objectAt(choice, 'tool_choice');
  if (object.type !== 'allowed_tools') return chosen('required', [[object, 'tool_choice']], tools);
  const { mode } = object;
  if (mode !== 'auto' && mode !== 'required') throw invalid('tool_choice.mode', 'must be auto or required');
  const entries = listAt(object.tools, 'tool_choice.tools').map((tool, at): ToolEntry => {
    const path = `tool_choice.tools[${at}]`;
    return [objectAt(tool, path), path];
  });
  return chosen(mode, entries, tools);
}

/** A named tool and its place. */
type ToolEntry = readonly [JsonObject, string];

function chosen(mode: ToolChoice['mode'], entries: readonly ToolEntry[], tools: readonly Tool[]): ToolChoice {
  let byKey: HostedTools | undefined;
  const names: string[] = [];
  const namespaces: (string | undefined)[] = [];
  const hosted: BuiltinTool[] = [];
  for (const [entry, path] of entries) {
    const name = nameIn(entry, path);
    if (name === undefined) {
      hosted.push(hostedBy(entry, path, (byKey ??= hostedTools(tools))));
      continue;
    }
    names.push(name);
    namespaces.push(stringOf(entry.namespace));
  }
  const inNamespaces = namespaces.some((namespace) => namespace !== undefined);
  return { mode, names, ...(inNamespaces && { namespaces }), ...(hosted.length > 0 && { hosted }) };
}

/** Undefined for a tool that the provider runs: its type names it. */
function nameIn(tool: JsonObject, path: string): string | undefined {
  if (tool.type === 'function' || tool.type === 'custom') return textAt(tool, path, 'name');
  return tool.type === TOOL_SEARCH ? TOOL_SEARCH : undefined;
}

type HostedTools = ReadonlyMap<string, BuiltinTool>;

/** A type has dated spellings. Several servers of tools (`mcp`) differ by their label. */
const keyOf = (type: string, label?: unknown): string => {
  const kind = builtinKind(type);
  return JSON.stringify([kind === 'opaque' ? type : kind, label]);
};

function hostedTools(tools: readonly Tool[]): HostedTools {
  const found = new Map<string, BuiltinTool>();
  for (const tool of tools) {
    if (tool.type !== 'builtin') continue;
    const type = stringOf(tool.options?.type) ?? '';
    for (const key of [keyOf(type), keyOf(type, tool.options?.server_label)]) if (!found.has(key)) found.set(key, tool);
  }
  return found;
}

function hostedBy(entry: JsonObject, path: string, tools: HostedTools): BuiltinTool {
  const found = tools.get(keyOf(textAt(entry, path, 'type'), entry.server_label));
  if (!found) throw invalid(path, 'names no tool of `tools`');
  const name = stringOf(entry.name);
  if (!found.server || name === undefined) return found;
  // One tool of the server.
  return { ...found, options: { ...found.options, name }, server: { ...found.server, allowed: [name] } };
}
