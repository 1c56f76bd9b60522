import type { FunctionTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import type { Origins } from '../origins.ts';
import { BUILTIN_KINDS, BUILTINS } from './builtin-tools.ts';
import { fromOpenApi } from './openapi-schema.ts';
import { asString, isObject, leftover, objectsOf, optional, pick, stringsOf, toCamel } from './wire.ts';

export interface DecodedTools {
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** What only this format has: fields of declarations by function name, and the rest of `toolConfig`. */
  readonly extras: JsonObject;
}

export function decodeTools(
  { tools, toolConfig }: { readonly tools: unknown; readonly toolConfig: unknown },
  origins?: Origins,
): DecodedTools {
  const calling = isObject(toolConfig) ? pick(toolConfig, 'functionCallingConfig') : undefined;
  const mode = isObject(calling) ? asString(calling['mode'])?.toUpperCase() : undefined;
  const strict = mode === 'VALIDATED';
  const rests: JsonObject = {};
  const decoded = objectsOf(tools).flatMap((tool, at) => {
    const offered = decodeTool(tool, strict, rests);
    const names = offered.some(({ type }) => type === 'builtin') ? namesIn(tool) : undefined;
    offered.forEach((one, index) => {
      const place = one.type !== 'builtin' ? `functionDeclarations[${index}]` : names?.get(fieldOf(one));
      origins?.note(one, place === undefined ? `tools[${at}]` : `tools[${at}].${place}`);
    });
    return offered;
  });
  const toolChoice = isObject(calling) ? decodeChoice(mode, calling) : undefined;
  const config = isObject(toolConfig) ? restOfConfig(toolConfig) : undefined;
  return {
    ...(decoded.length > 0 && { tools: decoded }),
    ...optional('toolChoice', toolChoice),
    extras: {
      ...(Object.keys(rests).length > 0 && { functionDeclarations: rests }),
      ...optional('toolConfig', config),
    },
  };
}

/** The field of a Tool object that a tool Google runs was read from, in camelCase. */
function fieldOf({ kind, options }: Extract<Tool, { type: 'builtin' }>): string | undefined {
  return kind === 'opaque' ? Object.keys(options ?? {})[0] : BUILTINS[kind].field;
}

/** Names as the caller spelled them by their camelCase: the object may have as many fields as a body has room for. */
function namesIn(tool: JsonObject): ReadonlyMap<string | undefined, string> {
  const names = new Map<string | undefined, string>();
  for (const name of Object.keys(tool)) {
    const field = toCamel(name);
    if (!names.has(field)) names.set(field, name);
  }
  return names;
}

/** One kind per Tool object is the rule of the wire; a client that puts several into one is understood. */
function decodeTool(tool: JsonObject, strict: boolean, rests: JsonObject): Tool[] {
  const tools: Tool[] = [];
  for (const declaration of objectsOf(pick(tool, 'functionDeclarations'))) {
    const decoded = decodeFunction(declaration, strict);
    const rest = leftover(declaration, FUNCTION_FIELDS);
    if (rest) rests[decoded.name] = rest;
    tools.push(decoded);
  }
  for (const [field, value] of Object.entries(leftover(tool, new Set(['functionDeclarations'])) ?? {})) {
    const kind = BUILTIN_KINDS.find((known) => BUILTINS[known].field === field);
    const options = isObject(value) ? value : {};
    const known = kind && !leftover(options, new Set(BUILTINS[kind].options));
    if (known) tools.push({ type: 'builtin', kind, ...(Object.keys(options).length > 0 && { options }) });
    else tools.push({ type: 'builtin', kind: 'opaque', format: 'gemini', options: { [field]: value } });
  }
  return tools;
}

const FUNCTION_FIELDS = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

function decodeFunction(declaration: JsonObject, strict: boolean): FunctionTool {
  const schema = pick(declaration, 'parametersJsonSchema');
  const openApi = pick(declaration, 'parameters');
  const parameters = isObject(schema) ? schema : isObject(openApi) ? fromOpenApi(openApi) : undefined;
  return {
    type: 'function',
    name: asString(pick(declaration, 'name')) ?? '',
    ...optional('description', asString(pick(declaration, 'description'))),
    ...optional('parameters', parameters),
    ...(strict && { strict }),
  };
}

const MODES = new Map<string | undefined, ToolChoice['mode']>([
  ['AUTO', 'auto'],
  ['VALIDATED', 'auto'],
  ['NONE', 'none'],
  ['ANY', 'required'],
]);

function decodeChoice(mode: string | undefined, calling: JsonObject): ToolChoice | undefined {
  const neutral = MODES.get(mode);
  const names = stringsOf(pick(calling, 'allowedFunctionNames'));
  return neutral && { mode: neutral, ...(names.length > 0 && { names }) };
}

const CALLING_FIELDS = new Set(['mode', 'allowedFunctionNames']);

function restOfConfig(toolConfig: JsonObject): JsonObject | undefined {
  const calling = pick(toolConfig, 'functionCallingConfig');
  const rest = leftover(toolConfig, new Set(['functionCallingConfig']));
  const callingRest = isObject(calling) ? leftover(calling, CALLING_FIELDS) : undefined;
  return rest || callingRest ? { ...rest, ...optional('functionCallingConfig', callingRest) } : undefined;
}
