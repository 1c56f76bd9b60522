import type {
  BuiltinTool,
  CacheMarker,
  CustomTool,
  FunctionTool,
  JsonObject,
  Tool,
  ToolChoice,
} from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { decodeCache } from './decode-parts.ts';
import { invalidValue, readArray, readBoolean, readObject, readString, required } from './read.ts';
import { compact } from '../json/object.ts';

/** Types of the provider's own tools (docs/protocols/requests.md#built-in-tools-by-name). A type may be `constructor`. */
const BUILTIN_BY_TYPE: ReadonlyMap<string, BuiltinTool['kind']> = new Map<string, BuiltinTool['kind']>([
  ['web_search', 'web_search'],
  ['googleSearch', 'web_search'],
  ['google_search', 'web_search'],
  ['web_search_retrieval', 'web_search_retrieval'],
  ['google_search_retrieval', 'web_search_retrieval'],
  ['googleSearchRetrieval', 'web_search_retrieval'],
  ['enterprise_web_search', 'enterprise_web_search'],
  ['enterpriseWebSearch', 'enterprise_web_search'],
  ['computer_use', 'computer_use'],
  ['computerUse', 'computer_use'],
  ['google_maps', 'google_maps'],
  ['googleMaps', 'google_maps'],
  ['url_context', 'url_context'],
  ['urlContext', 'url_context'],
  ['code_execution', 'code_execution'],
  ['codeExecution', 'code_execution'],
]);

/** Decodes `tools`, then the deprecated `functions`. An empty list equals no list. */
export function decodeTools(
  tools: readonly unknown[] | undefined,
  functions: readonly unknown[] | undefined,
  origins?: Origins,
): readonly Tool[] | undefined {
  if (!tools && !functions) return undefined;
  const decoded = [
    ...(tools ?? []).map((tool, at) => decodeTool(requireObject(tool, `tools[${at}]`), `tools[${at}]`)),
    ...(functions ?? []).map((fn, at) => {
      const place = `functions[${at}]`;
      const decodedFunction = decodeFunction(requireObject(fn, place), place, undefined);
      origins?.note(decodedFunction, place);
      return decodedFunction;
    }),
  ];
  return decoded.length > 0 ? decoded : undefined;
}

/**
 * A function with a special name (`web_search`, `computer_use`) stays a function, because its meaning depends on the
 * target. Gemini runs a search for it. For Claude it is an ordinary function, whose description and schema must be kept
 * (docs/protocols/requests.md#built-in-tools-by-name).
 */
function decodeTool(tool: JsonObject, path: string): Tool {
  const type = required(readString(tool.type, path, 'type'), path, 'type');
  if (type === 'custom') return decodeCustom(requireObject(tool.custom, `${path}.custom`), `${path}.custom`);
  if (type !== 'function') return decodeTyped(tool, type);
  const fn = requireObject(tool.function, `${path}.function`);
  return decodeFunction(fn, `${path}.function`, decodeCache(tool, path) ?? decodeCache(fn, `${path}.function`));
}

function decodeFunction(fn: JsonObject, path: string, cache: CacheMarker | undefined): FunctionTool {
  return compact({
    type: 'function' as const,
    name: required(readString(fn.name, path, 'name'), path, 'name'),
    description: readString(fn.description, path, 'description'),
    parameters: readObject(fn.parameters, path, 'parameters'),
    strict: readBoolean(fn.strict, path, 'strict'),
    cache,
  });
}

function decodeCustom(custom: JsonObject, path: string): CustomTool {
  return compact({
    type: 'custom' as const,
    name: required(readString(custom.name, path, 'name'), path, 'name'),
    description: readString(custom.description, path, 'description'),
    format: readObject(custom.format, path, 'format'),
  });
}

/**
 * A tool whose `type` names it: `web_search`, or one of Anthropic's dated types (`web_search_20250305`,
 * docs/protocols/anthropic-messages.md#server-tools), which callers of Claude put into OpenAI bodies. `options` is the
 * whole tool, so that its `type` is kept.
 */
export function decodeTyped(tool: JsonObject, type: string): BuiltinTool {
  const dated = /^(.+)_20\d{6}$/.exec(type)?.[1];
  const kind = BUILTIN_BY_TYPE.get(dated === 'computer' ? 'computer_use' : (dated ?? type));
  if (kind) return { type: 'builtin', kind, options: tool };
  return { type: 'builtin', kind: 'opaque', options: tool, format: dated ? 'anthropic-messages' : 'openai-chat' };
}

/** `tool_choice`, else the deprecated `function_call` (docs/protocols/openai-chat.md#tool-choice). */
export function decodeToolChoice(choice: unknown, functionCall: unknown): ToolChoice | undefined {
  if (choice !== undefined && choice !== null) return decodeChoice(choice);
  if (functionCall === undefined || functionCall === null) return undefined;
  if (functionCall === 'none' || functionCall === 'auto') return { mode: functionCall };
  return forced(requireObject(functionCall, 'function_call').name, 'function_call.name');
}

function decodeChoice(choice: unknown): ToolChoice {
  if (typeof choice === 'string') {
    if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice };
    throw invalidValue('tool_choice', '`tool_choice` must be none, auto, required or an object.');
  }
  const object = requireObject(choice, 'tool_choice');
  switch (object.type) {
    case 'function':
    case 'custom': {
      const path = `tool_choice.${object.type}`;
      return forced(requireObject(object[object.type], path).name, `${path}.name`);
    }
    case 'allowed_tools':
      return decodeAllowed(requireObject(object.allowed_tools, 'tool_choice.allowed_tools'));
    default:
      throw invalidValue('tool_choice.type', '`tool_choice.type` must be one of function, custom, allowed_tools.');
  }
}

function forced(name: unknown, path: string): ToolChoice {
  return { mode: 'required', names: [required(readString(name, path), path)] };
}

function decodeAllowed(allowed: JsonObject): ToolChoice {
  const path = 'tool_choice.allowed_tools';
  if (allowed.mode !== 'auto' && allowed.mode !== 'required') {
    throw invalidValue(`${path}.mode`, `\`${path}.mode\` must be auto or required.`);
  }
  const tools = required(readArray(allowed.tools, path, 'tools'), path, 'tools');
  const names = tools.map((item, at) => {
    const tool = requireObject(item, `${path}.tools[${at}]`);
    const key = tool.type === 'custom' ? 'custom' : 'function';
    const place = `${path}.tools[${at}].${key}`;
    return required(readString(requireObject(tool[key], place).name, place, 'name'), place, 'name');
  });
  return { mode: allowed.mode, names };
}

function requireObject(value: unknown, path: string): JsonObject {
  return required(readObject(value, path), path);
}
