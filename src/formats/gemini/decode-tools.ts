import type { FunctionTool, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { BUILTIN_KINDS, BUILTINS } from './builtin-tools.ts';
import { fromOpenApi } from './schema.ts';
import { leftover, objectsOf, optional, pick, stringsOf } from './wire.ts';
import { toCamel } from '../json/field-names.ts';
import { isObject, setField, stringOf } from '../json/object.ts';

interface DecodedTools {
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** Fields that only this format has: those of declarations by function name, and the rest of `toolConfig`. */
  readonly extras: JsonObject;
}

export function decodeTools(
  { tools, toolConfig }: { readonly tools: unknown; readonly toolConfig: unknown },
  origins?: Origins,
): DecodedTools {
  const calling = isObject(toolConfig) ? pick(toolConfig, 'functionCallingConfig') : undefined;
  const mode = isObject(calling) ? stringOf(calling['mode'])?.toUpperCase() : undefined;
  const strict = mode === 'VALIDATED';
  const rests: JsonObject = {};
  const decoded: Tool[] = [];
  objectsOf(tools).forEach((tool, at) => {
    const note = (one: Tool, place: string): void => {
      origins?.note(one, `tools[${at}].${place}`);
      decoded.push(one);
    };
    decodeFunctions(tool, strict, rests, note);
    decodeBuiltins(tool, note);
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

/** Receives a tool and its place in its Tool object. */
type Note = (tool: Tool, place: string) => void;

function decodeFunctions(tool: JsonObject, strict: boolean, rests: JsonObject, note: Note): void {
  objectsOf(pick(tool, 'functionDeclarations')).forEach((declaration, index) => {
    const decoded = decodeFunction(declaration, strict);
    const rest = leftover(declaration, FUNCTION_FIELDS);
    if (rest) setField(rests, decoded.name, rest);
    note(decoded, `functionDeclarations[${index}]`);
  });
}

interface ToolField {
  /** As the caller spelled it. */
  readonly name: string;
  value: unknown;
}

/** The wire's rule is one kind per Tool object. The decoder also accepts several kinds in one. */
function decodeBuiltins(tool: JsonObject, note: Note): void {
  const fields = new Map<string, ToolField>();
  for (const name of Object.keys(tool)) {
    const value = tool[name];
    const field = toCamel(name);
    if (value === null || value === undefined || field === 'functionDeclarations') continue;
    const known = fields.get(field);
    if (known) known.value = value;
    else fields.set(field, { name, value });
  }
  for (const [field, { name, value }] of fields) note(decodeBuiltin(field, value), name);
}

function decodeBuiltin(field: string, value: unknown): Tool {
  const kind = KINDS_BY_FIELD.get(field);
  const options = isObject(value) ? value : {};
  if (kind && !leftover(options, new Set(BUILTINS[kind].options)))
    return { type: 'builtin', kind, ...(Object.keys(options).length > 0 && { options }) };
  return { type: 'builtin', kind: 'opaque', format: 'gemini', options: { [field]: value } };
}

const KINDS_BY_FIELD = new Map(BUILTIN_KINDS.map((kind) => [BUILTINS[kind].field, kind]));

const FUNCTION_FIELDS = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

function decodeFunction(declaration: JsonObject, strict: boolean): FunctionTool {
  const schema = pick(declaration, 'parametersJsonSchema');
  const openApi = pick(declaration, 'parameters');
  const parameters = isObject(schema) ? schema : isObject(openApi) ? fromOpenApi(openApi) : undefined;
  return {
    type: 'function',
    name: stringOf(pick(declaration, 'name')) ?? '',
    ...optional('description', stringOf(pick(declaration, 'description'))),
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
