import type { BuiltinTool, CustomTool, FunctionTool, JsonObject, Tool } from '../conversation.ts';
import { toOutputSchema, type AnswerPlan } from './encode-answer.ts';
import { choiceKeyOf, choiceName, isToolsetKey } from './encode-mcp.ts';
import { hasStructuredOutputs } from './models.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';
import { asFunction } from '../custom-tools.ts';
import { namedChoice } from '../hosted-choice.ts';
import { brokenLimit } from '../search-limits.ts';
import { objectOf, compact, booleanOf, stringOf } from '../json/object.ts';
import { RequestFault } from '../faults.ts';

/** A tool that Claude has no form for is a loss (docs/protocols/requests.md#tools). */
export function encodeTools(context: RequestContext): WireBlock[] {
  const { tools, webSearch } = context.conversation;
  const blocks: WireBlock[] = [];
  tools?.forEach((tool, at) => {
    // `web_search_options` ask for the same search, with its settings.
    if (webSearch && !context.native && isBareSearch(tool)) return;
    const block = encodeTool(tool, at, context);
    if (block) blocks.push(block);
  });
  if (!webSearch) return blocks;
  const broken = brokenLimit('web_search', webSearch, 'anthropic-messages');
  if (broken !== undefined) {
    context.losses.dropped('web_search_options', broken);
    return blocks;
  }
  if (!blocks.some(({ name }) => name === WEB_SEARCH.name)) return [...blocks, encodeWebSearch(webSearch, context)];
  context.losses.dropped('web_search_options', 'there is a `web_search` tool, and names of tools are unique');
  return blocks;
}

function encodeTool(tool: Tool, at: number, context: RequestContext): WireBlock | undefined {
  switch (tool.type) {
    case 'function':
      if (!context.native && wantsComputerUse(tool)) throw noComputerUse(`tools[${at}]`);
      if (!context.native && isBareSearch(tool)) return encodeBareSearch(tool, `tools[${at}]`, context);
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

/** Vertex AI has no strict tools (docs/protocols/vertex-ai.md#claude-features-not-served). `false` is the default. */
function strictness(strict: boolean | undefined, path: string, context: RequestContext): JsonObject {
  if (strict === undefined) return {};
  if (context.native && !strict) return { strict };
  if (hasStructuredOutputs(context.target) && context.facts.structuredOutput) return { strict };
  if (strict) context.losses.dropped(`${path}.function.strict`, 'this target serves no strict tools for this model');
  return {};
}

function encodeCustom(tool: CustomTool, path: string, { losses }: RequestContext): WireBlock {
  const { parameters: input_schema, ...fn } = asFunction(tool, path, losses);
  return { ...fn, input_schema };
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
  // The host itself refuses the tools that it does not serve.
  if (context.native && (tool.kind === 'opaque' || tool.kind === 'mcp')) return { ...options };
  if (tool.kind === 'mcp') return context.servers.toolset(tool, path, context.losses);
  if (TYPED.test(type) && isServed(type, context)) return { ...options };
  // A function with a special name is an ordinary function here: only a `type` requests a server tool
  // (docs/protocols/requests.md#built-in-tools-by-name).
  const asFunction = objectOf(options.function);
  if (asFunction) return { ...encodeNamed(asFunction, path, context), ...cacheOf(options) };
  const server = SERVER_TOOL[tool.kind];
  // Vertex AI runs web search only (docs/protocols/vertex-ai.md#claude-features-not-served).
  if (server && (tool.kind === 'web_search' || context.target.host === 'direct')) {
    const broken = brokenLimit(tool.kind, options, 'anthropic-messages');
    if (broken !== undefined) return context.losses.dropped(path, broken);
    if (TYPED.test(type)) context.losses.downgraded(`${path}.type`, 'Vertex serves another version of this tool');
    return { ...server, ...settingsOf(tool, path, context), ...cacheOf(options) };
  }
  if (wantsComputerUse(tool)) throw noComputerUse(path);
  return context.losses.dropped(path, `this target serves no ${tool.kind} tool`);
}

/** The settings of a server tool that another API has, too. */
function settingsOf({ kind, options = {} }: BuiltinTool, path: string, context: RequestContext): WireBlock {
  const kept: WireBlock = {};
  for (const [key, value] of Object.entries(options)) {
    if (ENVELOPE.has(key)) continue;
    if (kind !== 'web_search') context.losses.dropped(`${path}.${key}`, `Claude’s ${kind} tool has no such setting`);
    else if (WEB_SEARCH_OPTIONS.includes(key)) kept[key] = value;
    else if (key === 'excludeDomains') kept.blocked_domains = value;
    else if (key === 'filters') Object.assign(kept, filtersOf(value, path, context));
    else context.losses.dropped(`${path}.${key}`, 'Claude’s web_search tool has no such setting');
  }
  return kept;
}

const ENVELOPE: ReadonlySet<string> = new Set(['type', 'name', 'cache_control']);

/** OpenAI's Responses API has the domains one level down (docs/protocols/openai-responses.md#request). */
function filtersOf(filters: unknown, path: string, { losses }: RequestContext): WireBlock {
  const kept: WireBlock = {};
  for (const [key, value] of Object.entries(objectOf(filters) ?? {})) {
    if (key === 'allowed_domains' || key === 'blocked_domains') kept[key] = value;
    else losses.dropped(`${path}.filters.${key}`, 'Claude’s web search has no such filter');
  }
  return kept;
}

/** A function `web_search` without `parameters` (docs/protocols/requests.md#built-in-tools-by-name). */
function encodeBareSearch(tool: FunctionTool, path: string, { losses }: RequestContext): WireBlock {
  const { description, strict, cache } = tool;
  if (description !== undefined) losses.dropped(`${path}.function.description`, 'Anthropic describes its own search');
  if (strict) losses.dropped(`${path}.function.strict`, 'the provider runs the search');
  return { ...WEB_SEARCH, ...(cache && { cache_control: cache }) };
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
  const tool = compact({
    type: 'function' as const,
    name: stringOf(fn.name) ?? '',
    description: stringOf(fn.description),
    parameters: objectOf(fn.parameters),
    strict: booleanOf(fn.strict),
  });
  return encodeFunction(tool, path, context);
}

/** `web_search_options` (docs/protocols/openai-chat.md#web-search-options): the location maps; the context size has no counterpart. */
function encodeWebSearch({ user_location: given, ...options }: JsonObject, context: RequestContext): WireBlock {
  const location = objectOf(given);
  const place = objectOf(location?.approximate) ?? location;
  const settings = settingsOf({ type: 'builtin', kind: 'web_search', options }, 'web_search_options', context);
  return { ...WEB_SEARCH, ...settings, ...(place && { user_location: { ...place, type: 'approximate' } }) };
}

/** The choice of a server tool names it as Claude does. */
export function withNamedChoice(declared: readonly WireBlock[], context: RequestContext): RequestContext {
  const { conversation, losses } = context;
  if (!conversation.toolChoice?.hosted) return context;
  const names = new Set(declared.map(choiceName));
  const nameOf = (tool: BuiltinTool) => {
    const name = choiceKeyOf(tool) ?? stringOf(SERVER_TOOL[tool.kind]?.name);
    return names.has(name) ? name : undefined;
  };
  const { toolChoice: hosted, ...others } = conversation;
  const toolChoice = namedChoice(hosted, nameOf, losses);
  return { ...context, conversation: { ...others, ...(toolChoice && { toolChoice }) } };
}

interface ToolSection {
  readonly tools?: readonly WireBlock[];
  readonly tool_choice?: WireBlock;
}

/** Some limits on the choice are expressed by leaving tools out (docs/protocols/requests.md#tools). */
export function encodeToolSection(
  declared: readonly WireBlock[],
  answer: AnswerPlan,
  mayForce: boolean,
  context: RequestContext,
): ToolSection {
  const tools = allowedTools(declared, mayForce, context);
  if (answer.jsonTool) return withJsonTool(tools, answer.jsonTool, mayForce, context);
  if (tools.length === 0) {
    if (context.conversation.toolChoice?.mode === 'required') {
      context.losses.dropped('tool_choice', 'there is no tool to choose');
    }
    return {};
  }
  const choice = encodeChoice(mayForce, context);
  return { tools, ...(choice && { tool_choice: choice }) };
}

/** Only allowed tools are sent. A single forced one is named in `tool_choice`, if forcing is allowed. */
function allowedTools(
  declared: readonly WireBlock[],
  mayForce: boolean,
  { conversation }: RequestContext,
): readonly WireBlock[] {
  const choice = conversation.toolChoice;
  if (!choice?.names || declared.length === 0) return declared;
  const { names } = choice;
  const wanted = new Set<unknown>(names);
  const allowed = declared.filter((tool) => wanted.has(choiceName(tool)));
  if (allowed.length === 0) {
    throw new RequestFault('invalid_value', '`tool_choice` names no tool of `tools`.', 'tool_choice');
  }
  const isForced = choice.mode === 'required' && names.length === 1 && mayForce;
  // The choice of a toolset names none of its tools: offering no others forces it.
  return isForced && !isToolsetKey(names[0]) ? declared : allowed;
}

function encodeChoice(mayForce: boolean, context: RequestContext): WireBlock | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = context.conversation;
  if (choice?.mode === 'none') return { type: 'none' };
  const limit = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  // Without a choice, `auto` is created only to carry the limit; allowing several calls is the default.
  if (!choice) return parallel === false ? { type: 'auto', ...limit } : undefined;
  if (choice.mode === 'auto') return { type: 'auto', ...limit };
  if (!mayForce) {
    context.losses.downgraded('tool_choice', 'this model cannot be forced to call a tool here: it may answer in text');
    return { type: 'auto', ...limit };
  }
  const [name, ...others] = choice.names ?? [];
  const isOne = name !== undefined && others.length === 0 && !isToolsetKey(name);
  return isOne ? { type: 'tool', name, ...limit } : { type: 'any', ...limit };
}

/** Forces the `json` tool. Beside other tools it forces any of them, and one at a time (docs/protocols/requests.md#the-json-tool). */
function withJsonTool(
  tools: readonly WireBlock[],
  jsonTool: WireBlock,
  mayForce: boolean,
  { conversation, losses }: RequestContext,
): ToolSection {
  const section = { tools: [...tools, jsonTool] };
  if (!mayForce) {
    losses.downgraded(
      'response_format',
      'this model cannot be forced to answer in the schema: the system prompt requests it',
    );
    return { ...section, tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
  }
  const alone = tools.length === 0 || conversation.toolChoice?.mode === 'none';
  const forced = alone ? { type: 'tool', name: jsonTool.name } : { type: 'any' };
  return { ...section, tool_choice: { ...forced, disable_parallel_tool_use: true } };
}
