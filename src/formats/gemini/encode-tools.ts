import type { BuiltinTool, Conversation, FunctionTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import { builtinByName, encodeBuiltin, isBuiltinKind, type EncodedBuiltin } from './builtin-tools.ts';
import { draws, drawingOf, encodeImageTool, type ImageTool } from './image-tool.ts';
import { asFunction } from '../custom-tools.ts';
import { namedChoice } from '../hosted-choice.ts';
import { brokenLimit } from '../search-limits.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import type { LossReport } from '../losses/losses.ts';
import type { ModelTraits } from './models.ts';
import type { MergeRoom } from './schema-merge.ts';
import { toCarrier } from './schema.ts';
import { optional } from './wire.ts';
import { isObject } from '../json/object.ts';

interface EncodedGeminiTools {
  readonly tools?: JsonObject[];
  readonly toolConfig?: JsonObject;
  /** Free-text tools sent as functions of one string; their arguments are unwrapped in the reply. */
  readonly customTools?: ReadonlySet<string>;
  /** Settings of `generationConfig` for pictures. */
  readonly drawing?: JsonObject;
}

/** Tools and tool choice (docs/protocols/requests.md#tools). */
export function encodeTools(
  conversation: Conversation,
  traits: ModelTraits,
  target: RequestTarget,
  report: SchemaReport,
): EncodedGeminiTools {
  if (!declaresTools(conversation)) return NO_TOOLS;
  const { losses } = report;
  const collected: Collected = {
    declarations: [],
    builtins: [],
    customTools: new Set(),
    strict: [],
    place: 0,
    images: undefined,
  };
  (conversation.tools ?? []).forEach((tool, index) => collect(tool, `tools[${index}]`, collected, { target, report }));
  const drawing = collected.images && drawingOf(collected.images, conversation.toolChoice, losses);
  if (drawing?.alone) return { ...(drawing.config && { drawing: drawing.config }) };
  const given = drawing ? drawing.choice : conversation.toolChoice;
  const choice = namedChoice(given, chosenBuiltin(given), losses);
  const offer = searchApart(offered(collected, choice), traits, losses);
  addWebSearch(conversation.webSearch, offer, losses);
  const { declarations, builtins } = offer;
  const tools = builtins.map(({ tool }) => tool);
  if (declarations.length > 0) tools.splice(offer.place, 0, { functionDeclarations: declarations });
  if (conversation.parallelToolCalls === false) {
    losses.dropped('parallel_tool_calls', 'Gemini cannot be limited to one call per turn');
  }
  const toolConfig = encodeToolConfig(offer, { choice, strict: collected.strict, traits, losses });
  return {
    ...(tools.length > 0 && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(collected.customTools.size > 0 && { customTools: collected.customTools }),
    ...(drawing?.config && { drawing: drawing.config }),
  };
}

/** Google's own tools can be left out of an offer, and cannot be forced. */
const chosenBuiltin =
  (choice: ToolChoice | undefined) =>
  ({ kind }: BuiltinTool): string | undefined =>
    choice?.mode === 'auto' && isBuiltinKind(kind) ? kind : undefined;

const NO_TOOLS: EncodedGeminiTools = {};

const declaresTools = ({ tools, toolChoice, webSearch, parallelToolCalls }: Conversation): boolean =>
  tools !== undefined || toolChoice !== undefined || webSearch !== undefined || parallelToolCalls === false;

interface Offer {
  readonly declarations: JsonObject[];
  readonly builtins: NamedBuiltin[];
  /** Number of other tools before the first declaration. All declarations go there, in one Tool object. */
  place: number;
}

interface Collected extends Offer {
  readonly customTools: Set<string>;
  /** Places of the strict tools. */
  readonly strict: string[];
  images: ImageTool | undefined;
}

interface Collecting {
  readonly target: RequestTarget;
  readonly report: SchemaReport;
}

/**
 * `name`: name of the function tool that requests the built-in tool in an OpenAI body, or the kind of a hosted tool.
 * `search`: place of a hosted search tool in the caller's body.
 */
type NamedBuiltin = EncodedBuiltin & { readonly name?: string; readonly search?: string };

function collect(tool: Tool, param: string, into: Collected, { target, report }: Collecting): void {
  const { losses } = report;
  if (into.declarations.length === 0) into.place = into.builtins.length;
  if (tool.type === 'builtin') return collectHosted(tool, param, into, { target, report });
  if (tool.type === 'custom') {
    into.customTools.add(tool.name);
    const { parameters: parametersJsonSchema, ...fn } = asFunction(tool, param, losses);
    into.declarations.push({ ...fn, parametersJsonSchema });
    return;
  }
  const builtin = builtinByName(tool.name);
  const broken = builtin && brokenLimit(builtin, tool.parameters ?? {}, 'gemini');
  if (broken !== undefined) losses.dropped(param, broken);
  else if (builtin) {
    const encoded = encodeBuiltin(builtin, tool.parameters ?? {}, `${param}.function.parameters`, losses);
    into.builtins.push({ ...encoded, name: tool.name });
    reportUnused(tool, param, losses);
  } else into.declarations.push(declare(tool, param, into, report));
}

function collectHosted(tool: BuiltinTool, param: string, into: Collected, { target, report }: Collecting): void {
  const { losses } = report;
  const broken = brokenLimit(tool.kind, tool.options ?? {}, 'gemini');
  if (broken !== undefined) losses.dropped(param, broken);
  else if (tool.kind === 'image_generation' && draws(target))
    into.images = encodeImageTool(tool.options ?? {}, param, target, losses);
  else if (isBuiltinKind(tool.kind)) {
    const encoded = encodeBuiltin(tool.kind, tool.options ?? {}, param, losses);
    into.builtins.push({ ...encoded, name: tool.kind, ...(tool.kind === 'web_search' && { search: param }) });
  } else if (tool.format === 'gemini' && tool.options) into.builtins.push({ tool: tool.options });
  else losses.dropped(param, NOT_OF_GOOGLE[tool.kind] ?? `only ${tool.format ?? 'another API'} has this tool`);
}

const NOT_OF_GOOGLE: Partial<Record<BuiltinTool['kind'], string>> = {
  image_generation: 'this model draws no pictures',
  mcp: 'Gemini connects to no MCP servers',
};

/** Reports the fields of a function tool whose name requests one of Google's own tools. */
function reportUnused({ description, cache }: FunctionTool, param: string, losses: LossReport): void {
  if (description !== undefined) losses.dropped(`${param}.function.description`, 'Google describes its own tools');
  if (cache) losses.dropped(`${param}.cache_control`, 'Gemini has no cache markers');
}

function declare(tool: FunctionTool, param: string, into: Collected, report: SchemaReport): JsonObject {
  if (tool.strict) into.strict.push(`${param}.function.strict`);
  if (tool.cache) report.losses.dropped(`${param}.cache_control`, 'Gemini has no cache markers');
  const parameters = tool.parameters && encodeSchema(tool.parameters, `${param}.function.parameters`, report);
  return {
    name: tool.name,
    ...optional('description', tool.description),
    ...optional('parametersJsonSchema', parameters),
  };
}

/** The losses of all schemas in one request, and the room left for merged definitions. */
export interface SchemaReport {
  readonly losses: LossReport;
  readonly room: MergeRoom;
}

/** Encodes a schema for Gemini's wire and reports every change of its meaning. */
export function encodeSchema(
  schema: JsonObject,
  param: string,
  { losses, room }: SchemaReport,
): JsonObject | undefined {
  const carried = toCarrier(schema, room);
  if (carried.described.length > 0) {
    losses.downgraded(param, `moved to the description, not enforced: ${listed(carried.described)}`);
  }
  if (carried.dropped.length > 0) losses.dropped(param, `Gemini's JSON Schema has no ${listed(carried.dropped)}`);
  return carried.schema;
}

/** Limits for a loss report: a schema has a few kinds of keywords, but a caller may invent thousands of any length. */
const MAX_KEYWORDS = 20;
const MAX_KEYWORD_LENGTH = 100;

function listed(keywords: readonly string[]): string {
  const named = keywords.filter(({ length }) => length <= MAX_KEYWORD_LENGTH).slice(0, MAX_KEYWORDS);
  const more = keywords.length - named.length;
  return (more === 0 ? named : [...named, `${more} more`]).join(', ');
}

function addWebSearch(webSearch: JsonObject | undefined, into: Offer, losses: LossReport): void {
  if (!webSearch) return;
  const broken = brokenLimit('web_search', webSearch, 'gemini');
  if (broken !== undefined) return losses.dropped('web_search_options', broken);
  for (const option of Object.keys(webSearch)) {
    losses.dropped(`web_search_options.${option}`, 'googleSearch has no such option');
  }
  if (!into.builtins.some(({ tool }) => 'googleSearch' in tool)) into.builtins.push({ tool: { googleSearch: {} } });
}

/**
 * Selects the tools to send. The wire cannot express "auto among these", since `allowedFunctionNames` needs ANY, so
 * only these are sent. Likewise, only omitting Google's own tools keeps Google from running them.
 */
function offered({ declarations, builtins, place }: Collected, choice: ToolChoice | undefined): Offer {
  if (choice?.mode === 'none') return { declarations, builtins: [], place: 0 };
  const names = choice?.names && new Set(choice.names);
  const known = [...declarations, ...builtins];
  const allowed = ({ name }: { readonly name?: unknown }) => typeof name === 'string' && names?.has(name) === true;
  if (names && known.length > 0 && !known.some(allowed)) {
    throw new RequestFault('invalid_value', '`tool_choice` names no tool of `tools`.', 'tool_choice');
  }
  if (choice?.mode !== 'auto' || !names) return { declarations, builtins, place };
  return {
    declarations: declarations.filter(allowed),
    builtins: builtins.filter(allowed),
    place: builtins.slice(0, place).filter(allowed).length,
  };
}

/**
 * Before Gemini 3, search beside function declarations is a 400 (docs/protocols/gemini.md#built-in-tools). Codex offers a
 * hosted search in every request, and its functions are what it works with.
 */
function searchApart(offer: Offer, { third }: ModelTraits, losses: LossReport): Offer {
  const { declarations, builtins, place } = offer;
  if (third || declarations.length === 0) return offer;
  const kept = builtins.filter(({ search }) => search === undefined);
  if (kept.length === builtins.length) return offer;
  for (const { search } of builtins)
    if (search !== undefined) losses.dropped(search, 'this model searches only without function tools');
  return {
    declarations,
    builtins: kept,
    place: builtins.slice(0, place).filter(({ search }) => search === undefined).length,
  };
}

interface ConfigInputs {
  readonly choice: ToolChoice | undefined;
  readonly strict: readonly string[];
  readonly traits: ModelTraits;
  readonly losses: LossReport;
}

function encodeToolConfig({ declarations, builtins }: Offer, inputs: ConfigInputs): JsonObject | undefined {
  const { choice, losses } = inputs;
  if (choice?.mode === 'required') {
    if (builtins.length > 0) {
      losses.downgraded('tool_choice', 'it applies to function tools only; Google decides when its own tools run');
    } else if (declarations.length === 0) losses.dropped('tool_choice', 'there is no tool to choose');
  }
  // A calling config without declarations is a 400 (docs/protocols/gemini.md#tool-config).
  const names = declarations.map(({ name }) => String(name));
  const calling = names.length > 0 ? encodeCalling(names, inputs) : undefined;
  const retrieval = builtins.find(({ retrievalConfig }) => retrievalConfig)?.retrievalConfig;
  if (!calling && !retrieval) return undefined;
  return {
    ...(calling && { functionCallingConfig: calling }),
    ...(isObject(retrieval) && { retrievalConfig: retrieval }),
  };
}

function encodeCalling(declared: readonly string[], inputs: ConfigInputs): JsonObject | undefined {
  const { choice, strict, traits, losses } = inputs;
  if (!traits.validatedCalls) {
    for (const param of strict) losses.dropped(param, 'this model cannot validate calls');
  }
  if (choice?.mode === 'none') return { mode: 'NONE' };
  if (choice?.mode === 'required') {
    const known = new Set(declared);
    const names = choice.names?.filter((name) => known.has(name));
    if (names && names.length < (choice.names?.length ?? 0)) {
      losses.dropped('tool_choice', 'some of its names are not function tools of this request');
    }
    if (names?.length !== 0) return { mode: 'ANY', ...optional('allowedFunctionNames', names) };
  }
  if (strict.length > 0 && traits.validatedCalls) return { mode: 'VALIDATED' };
  return choice ? { mode: 'AUTO' } : undefined;
}
