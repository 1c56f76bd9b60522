import type { BuiltinTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import { cache, invalid } from './decode-blocks.ts';
import { booleanOf, stringOf } from '../json/read.ts';
import { isObject, objectOf, rest } from '../json/object.ts';

/**
 * Server tools with a neutral name, whatever their date (docs/protocols/anthropic-messages.md#server-tools). All others
 * are specific to this format.
 */
const BUILTIN: readonly (readonly [RegExp, BuiltinTool['kind']])[] = [
  [/^web_search_20\d{6}$/, 'web_search'],
  [/^web_fetch_20\d{6}$/, 'url_context'],
  [/^code_execution_20\d{6}$/, 'code_execution'],
  [/^computer_20\d{6}$/, 'computer_use'],
];

export function decodeTools(tools: unknown): readonly Tool[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) throw invalid('tools', 'must be a list');
  return tools.map((tool: unknown, at) => {
    if (!isObject(tool)) throw invalid(`tools[${at}]`, 'must be an object');
    return decodeTool(tool, at);
  });
}

function decodeTool(tool: JsonObject, at: number): Tool {
  const type = stringOf(tool.type);
  if (type !== undefined && type !== 'custom') {
    const kind = BUILTIN.find(([pattern]) => pattern.test(type))?.[1] ?? 'opaque';
    return { type: 'builtin', kind, options: tool, ...(kind === 'opaque' && { format: 'anthropic-messages' }) };
  }
  const name = stringOf(tool.name);
  if (name === undefined) throw invalid(`tools[${at}].name`, 'must be a string');
  const description = stringOf(tool.description);
  const parameters = objectOf(tool.input_schema);
  const strict = booleanOf(tool.strict);
  // A tool without a type is a `custom` tool.
  const extras = rest(tool, ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parameters }),
    ...(strict !== undefined && { strict }),
    ...cache(tool),
    ...(extras && { extras }),
  };
}

export function decodeToolChoice(choice: unknown): { toolChoice?: ToolChoice; parallelToolCalls?: boolean } {
  if (choice === undefined || choice === null) return {};
  if (!isObject(choice)) throw invalid('tool_choice', 'must be an object');
  const disabled = booleanOf(choice.disable_parallel_tool_use);
  return { toolChoice: decodeChoice(choice), ...(disabled !== undefined && { parallelToolCalls: !disabled }) };
}

function decodeChoice(choice: JsonObject): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { mode: choice.type };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = stringOf(choice.name);
      if (name === undefined) throw invalid('tool_choice.name', 'must be a string');
      return { mode: 'required', names: [name] };
    }
    default:
      throw invalid('tool_choice.type', 'must be one of auto, any, tool, none');
  }
}
