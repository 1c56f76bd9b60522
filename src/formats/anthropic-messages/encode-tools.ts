import type { BuiltinTool, CustomTool, FunctionTool, JsonObject, Tool } from '../conversation.ts';
import { toOutputSchema } from './output-schema.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

/** A tool that Claude has no form for is a loss (docs/protocols/requests.md#tools). */
export function encodeTools(context: RequestContext): WireBlock[] {
  const { tools = [], webSearch } = context.conversation;
  const blocks: WireBlock[] = [];
  tools.forEach((tool, at) => {
    const block = encodeTool(tool, at, context);
    if (block) blocks.push(block);
  });
  if (!webSearch) return blocks;
  if (!blocks.some(({ name }) => name === WEB_SEARCH.name)) return [...blocks, encodeWebSearch(webSearch, context)];
  context.losses.dropped('web_search_options', 'there is a `web_search` tool, and names of tools are unique');
  return blocks;
}

/** Names of free-text tools, whose arguments the reply's decoder unwraps. */
export function customNames(tools: readonly Tool[] | undefined): ReadonlySet<string> {
  return new Set((tools ?? []).flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
}

function encodeTool(tool: Tool, at: number, context: RequestContext): WireBlock | undefined {
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, `tools[${at}]`, context);
    case 'custom':
      return encodeCustom(tool, `tools[${at}]`, context);
    case 'builtin':
      return encodeBuiltin(tool, `tools[${at}]`, context);
  }
}

function encodeFunction(tool: FunctionTool, path: string, context: RequestContext): WireBlock {
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    ...schemaOf(tool, path, context),
    ...(tool.cache && { cache_control: tool.cache }),
    ...(context.native && tool.extras),
  };
}

/**
 * The schema is sent whole and unchanged, except for its root: the API fixes the root's type (docs/protocols/requests.md#function-tool).
 */
function inputSchema(parameters: JsonObject | undefined, path: string, { losses }: RequestContext): JsonObject {
  if (!parameters) return { type: 'object', properties: {} };
  if (parameters.type === 'object') return parameters;
  if (parameters.type !== undefined) losses.clamped(`${path}.type`, 'Claude takes only objects as tool input');
  return { ...parameters, type: 'object' };
}

/** The schema of a strict tool is limited to the keywords of an answer's schema (docs/protocols/requests.md#json-schema-for-claude). */
function schemaOf({ parameters, strict }: FunctionTool, path: string, context: RequestContext): JsonObject {
  const here = `${path}.function.parameters`;
  const input_schema = inputSchema(parameters, here, context);
  const sent = strictness(strict, path, context);
  if (sent.strict !== true || context.native) return { input_schema, ...sent };
  const { schema, moved } = toOutputSchema(input_schema);
  for (const at of moved) context.losses.downgraded(`${here}${at}`, 'Claude reads this at most as a description');
  return { input_schema: schema, ...sent };
}

/**
 * Strict tools need structured output, which Vertex AI does not serve (docs/protocols/vertex-ai.md#claude-features-not-served). `false`
 * is the default.
 */
function strictness(strict: boolean | undefined, path: string, context: RequestContext): JsonObject {
  if (strict === undefined) return {};
  if (context.native && !strict) return { strict };
  if (context.target.host === 'direct' && context.facts.structuredOutput) return { strict };
  if (strict) context.losses.dropped(`${path}.function.strict`, 'this target serves no strict tools for this model');
  return {};
}

function encodeCustom(tool: CustomTool, path: string, { losses }: RequestContext): WireBlock {
  if (tool.format && tool.format.type !== 'text') {
    losses.dropped(`${path}.custom.format`, 'Claude cannot constrain free text to a grammar');
  }
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  };
}

const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' } as const;

/** Settings that the search tool has under the same names (docs/protocols/anthropic-messages.md#web-search). */
const WEB_SEARCH_OPTIONS = ['max_uses', 'allowed_domains', 'blocked_domains', 'user_location'];

const SERVER_TOOL: Partial<Record<BuiltinTool['kind'], WireBlock>> = {
  web_search: WEB_SEARCH,
  url_context: { type: 'web_fetch_20250910', name: 'web_fetch' },
  code_execution: { type: 'code_execution_20250825', name: 'code_execution' },
};

/**
 * Anthropic's typed tools carry a date (docs/protocols/anthropic-messages.md#server-tools): a tool in this spelling is sent unchanged.
 */
const TYPED = /_20\d{6}$/;

function encodeBuiltin(tool: BuiltinTool, path: string, context: RequestContext): WireBlock | undefined {
  const { options = {} } = tool;
  const type = stringOf(options.type) ?? '';
  if (TYPED.test(type) && isServed(type, context)) return { ...options };
  // A function with a special name is an ordinary function here: only a `type` requests a server tool
  // (docs/protocols/requests.md#built-in-tools-by-name).
  const asFunction = objectOf(options.function);
  if (asFunction) return { ...encodeNamed(asFunction, path, context), ...cacheOf(options) };
  const server = SERVER_TOOL[tool.kind];
  // Vertex AI runs web search only (docs/protocols/vertex-ai.md#claude-features-not-served).
  if (server && (tool.kind === 'web_search' || context.target.host === 'direct')) {
    const kept: WireBlock = {};
    for (const [key, value] of Object.entries(options)) {
      if (tool.kind === 'web_search' && WEB_SEARCH_OPTIONS.includes(key)) kept[key] = value;
      else if (key !== 'type' && key !== 'name' && key !== 'cache_control') {
        context.losses.dropped(`${path}.${key}`, `Claude’s ${tool.kind} tool has no such setting`);
      }
    }
    if (TYPED.test(type)) context.losses.downgraded(`${path}.type`, 'Vertex serves another version of this tool');
    return { ...server, ...kept, ...cacheOf(options) };
  }
  context.losses.dropped(path, `this target serves no ${tool.kind} tool`);
  return undefined;
}

/**
 * Dated types of tools that the server runs; the client runs the other typed tools. Then the subset that Vertex AI
 * serves (docs/protocols/vertex-ai.md#claude-features-not-served).
 */
const RUN_BY_SERVER = /^(?:web_search|web_fetch|code_execution|tool_search_tool|advisor)_/;
const RUN_BY_VERTEX = /^(?:web_search_20250305$|tool_search_tool_)/;

/** A body written in this format is sent unchanged: the host itself refuses the tools that it does not serve. */
function isServed(type: string, { native, target }: RequestContext): boolean {
  return native || target.host === 'direct' || !RUN_BY_SERVER.test(type) || RUN_BY_VERTEX.test(type);
}

/** Server tools keep the caller's spelling, and with it the cache marker. */
function cacheOf(options: JsonObject): JsonObject {
  const marker = objectOf(options.cache_control);
  return marker ? { cache_control: marker } : {};
}

function encodeNamed(fn: JsonObject, path: string, context: RequestContext): WireBlock {
  const description = stringOf(fn.description);
  const parameters = objectOf(fn.parameters);
  const strict = typeof fn.strict === 'boolean' ? fn.strict : undefined;
  return encodeFunction(
    {
      type: 'function',
      name: stringOf(fn.name) ?? '',
      ...(description !== undefined && { description }),
      ...(parameters && { parameters }),
      ...(strict !== undefined && { strict }),
    },
    path,
    context,
  );
}

/** `web_search_options` (docs/protocols/openai-chat.md#web-search-options): the location maps; the context size has no counterpart. */
function encodeWebSearch(options: JsonObject, { losses }: RequestContext): WireBlock {
  const location = objectOf(options.user_location);
  const place = objectOf(location?.approximate) ?? location;
  for (const key of Object.keys(options)) {
    if (key !== 'user_location') losses.dropped(`web_search_options.${key}`, 'Claude’s web search has no such setting');
  }
  return { ...WEB_SEARCH, ...(place && { user_location: { ...place, type: 'approximate' } }) };
}
