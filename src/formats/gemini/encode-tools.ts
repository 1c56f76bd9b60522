import type { Conversation, FunctionTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import { builtinByName, encodeBuiltin, type EncodedBuiltin } from './builtin-tools.ts';
import type { LossReport } from './losses.ts';
import type { ModelTraits } from './models.ts';
import { toCarrier } from './schema.ts';
import { isObject, optional } from './wire.ts';

export interface EncodedTools {
  readonly tools?: JsonObject[];
  readonly toolConfig?: JsonObject;
  /** Free-text tools sent as functions of one string; their arguments are unwrapped in the reply. */
  readonly customTools: string[];
}

/** Tools and tool choice (wire.md D5). */
export function encodeTools(conversation: Conversation, traits: ModelTraits, losses: LossReport): EncodedTools {
  const collected: Collected = { declarations: [], builtins: [], customTools: [], strict: false, place: 0 };
  (conversation.tools ?? []).forEach((tool, index) => collect(tool, `tools[${index}]`, collected, losses));
  addWebSearch(conversation.webSearch, collected, losses);
  const choice = conversation.toolChoice;
  const declarations = offered(collected.declarations, choice);
  const tools = collected.builtins.map(({ tool }) => tool);
  if (declarations.length > 0) tools.splice(collected.place, 0, { functionDeclarations: declarations });
  if (conversation.parallelToolCalls === false) {
    losses.dropped('parallel_tool_calls', 'Gemini cannot be kept to one call per turn');
  }
  const toolConfig = encodeToolConfig(declarations, collected, { choice, traits, losses });
  return {
    ...(tools.length > 0 && { tools }),
    ...(toolConfig && { toolConfig }),
    customTools: collected.customTools,
  };
}

interface Collected {
  readonly declarations: JsonObject[];
  readonly builtins: EncodedBuiltin[];
  readonly customTools: string[];
  strict: boolean;
  /** How many other tools stand before the first declaration: all declarations go there, into one Tool object. */
  place: number;
}

function collect(tool: Tool, param: string, into: Collected, losses: LossReport): void {
  if (into.declarations.length === 0) into.place = into.builtins.length;
  if (tool.type === 'builtin') {
    if (tool.kind !== 'opaque') into.builtins.push(encodeBuiltin(tool.kind, tool.options ?? {}, param, losses));
    else if (tool.format === 'gemini' && tool.options) into.builtins.push({ tool: tool.options });
    else losses.dropped(param, `only ${tool.format ?? 'another API'} has this tool`);
    return;
  }
  if (tool.type === 'custom') {
    into.customTools.push(tool.name);
    if (tool.format && tool.format['type'] !== 'text') {
      losses.downgraded(`${param}.custom.format`, 'Gemini cannot hold a tool to a grammar');
    }
    into.declarations.push({
      name: tool.name,
      ...optional('description', tool.description),
      parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    });
    return;
  }
  const builtin = builtinByName(tool.name);
  if (builtin)
    into.builtins.push(encodeBuiltin(builtin, tool.parameters ?? {}, `${param}.function.parameters`, losses));
  else into.declarations.push(declare(tool, param, into, losses));
}

function declare(tool: FunctionTool, param: string, into: Collected, losses: LossReport): JsonObject {
  if (tool.strict) into.strict = true;
  if (tool.cache) losses.dropped(`${param}.cache_control`, 'Gemini has no cache markers');
  const parameters = tool.parameters && encodeSchema(tool.parameters, `${param}.function.parameters`, losses);
  return {
    name: tool.name,
    ...optional('description', tool.description),
    ...optional('parametersJsonSchema', parameters),
  };
}

/** A schema on Gemini's wire; what changed its meaning is reported. */
export function encodeSchema(schema: JsonObject, param: string, losses: LossReport): JsonObject | undefined {
  const carried = toCarrier(schema);
  if (carried.described.length > 0) {
    losses.downgraded(param, `told in the description, not enforced: ${carried.described.join(', ')}`);
  }
  if (carried.dropped.length > 0) losses.dropped(param, `Gemini's JSON Schema has no ${carried.dropped.join(', ')}`);
  return carried.schema;
}

function addWebSearch(webSearch: JsonObject | undefined, into: Collected, losses: LossReport): void {
  if (!webSearch) return;
  for (const option of Object.keys(webSearch)) {
    losses.dropped(`web_search_options.${option}`, 'googleSearch has no such option');
  }
  if (!into.builtins.some(({ tool }) => 'googleSearch' in tool)) into.builtins.push({ tool: { googleSearch: {} } });
}

/** "auto among these" has no word on the wire, since allowedFunctionNames needs ANY: only these are then offered. */
function offered(declarations: JsonObject[], choice: ToolChoice | undefined): JsonObject[] {
  const names = choice?.mode === 'auto' ? choice.names : undefined;
  return names ? declarations.filter(({ name }) => typeof name === 'string' && names.includes(name)) : declarations;
}

interface ConfigInputs {
  readonly choice: ToolChoice | undefined;
  readonly traits: ModelTraits;
  readonly losses: LossReport;
}

function encodeToolConfig(
  declarations: readonly JsonObject[],
  collected: Collected,
  inputs: ConfigInputs,
): JsonObject | undefined {
  if (collected.builtins.length > 0 && (inputs.choice?.mode === 'none' || inputs.choice?.mode === 'required')) {
    inputs.losses.downgraded('tool_choice', 'it governs function tools only; Google decides on tools it runs itself');
  }
  // A calling config without declarations is a 400 (wire.md C4).
  const names = declarations.map(({ name }) => String(name));
  const calling = names.length > 0 ? encodeCalling(names, collected.strict, inputs) : undefined;
  const retrieval = collected.builtins.find(({ retrievalConfig }) => retrievalConfig)?.retrievalConfig;
  if (!calling && !retrieval) return undefined;
  return {
    ...(calling && { functionCallingConfig: calling }),
    ...(isObject(retrieval) && { retrievalConfig: retrieval }),
  };
}

function encodeCalling(declared: readonly string[], strict: boolean, inputs: ConfigInputs): JsonObject | undefined {
  const { choice, traits, losses } = inputs;
  if (strict && !traits.validatedCalls) losses.dropped('tools[].function.strict', 'this model cannot validate calls');
  if (choice?.mode === 'none') return { mode: 'NONE' };
  if (choice?.mode === 'required') {
    const names = choice.names?.filter((name) => declared.includes(name));
    if (names?.length !== 0) return { mode: 'ANY', ...optional('allowedFunctionNames', names) };
    losses.dropped('tool_choice', 'it names no function tool of this request');
  }
  if (strict && traits.validatedCalls) return { mode: 'VALIDATED' };
  return choice ? { mode: 'AUTO' } : undefined;
}
