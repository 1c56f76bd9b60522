import type {
  Conversation,
  JsonObject,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  Sampling,
  BuiltinTool,
  Tool,
  ToolChoice,
} from '../conversation.ts';
import { RESPONSES_CONVERSATION } from '../fields/parameter-names.ts';
import { RequestFault } from '../faults.ts';
import { compact, objectOf, rest, booleanOf, numberOf, stringOf } from '../json/object.ts';
import type { Origins } from '../losses/origins.ts';
import { endsWithTrigger } from './compaction-item.ts';
import { ItemDecoder } from './decode-items.ts';
import { decodeTools, builtinKind, TOOL_SEARCH } from './decode-tools.ts';
import { invalid, listAt, objectAt, textAt } from './read.ts';
import { askForSummary } from './summary-request.ts';

/** Responses body → conversation (docs/protocols/openai-responses.md#request). */
export function decodeRequest(body: JsonObject, origins?: Origins): Conversation {
  const items = new ItemDecoder(origins);
  const instructions = stringOf(body.instructions);
  if (instructions !== undefined && instructions !== '') {
    const part = { type: 'text' as const, text: instructions };
    const turn = { role: 'system' as const, parts: [part] };
    origins?.note(part, 'instructions');
    origins?.note(turn, 'instructions');
    items.turns.push(turn);
  }
  decodeInput(items, body);
  const tools = [...decodeTools(body.tools, 'tools', origins), ...items.tools];
  const configured = (field: 'reasoning' | 'text'): JsonObject | undefined => {
    const update = items.configured[field];
    return update ? { ...objectOf(body[field]), ...update.value } : objectOf(body[field]);
  };
  const text = configured('text');
  const unread = items.losses.list();
  const conversation: Conversation = compact({
    model: stringOf(body.model) ?? '',
    turns: items.turns,
    maxTokens: numberOf(body.max_output_tokens),
    sampling: decodeSampling(body),
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: decodeToolChoice(body.tool_choice, tools),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    responseFormat: decodeFormat(objectOf(text?.format)),
    verbosity: stringOf(text?.verbosity),
    reasoning: decodeReasoning(configured('reasoning')),
    user: stringOf(body.safety_identifier) ?? stringOf(body.user),
    metadata: objectOf(body.metadata),
    serviceTier: stringOf(body.service_tier),
    stream: body.stream === true,
    extras: unplaced(body),
    extrasFormat: 'openai-responses' as const,
    unread: unread.length > 0 ? unread : undefined,
  });
  return endsWithTrigger(body) ? askForSummary(conversation, origins) : conversation;
}

/** A fault in the input may only mean that the gateway lacks what came before it: the results of a step name calls of the step before. */
function decodeInput(items: ItemDecoder, body: JsonObject): void {
  try {
    items.decode(body.input);
  } catch (error) {
    refuseStateful({ extras: body });
    throw error;
  }
}

function decodeSampling(body: JsonObject): Sampling {
  const topLogprobs = numberOf(body.top_logprobs);
  return compact({
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    frequencyPenalty: numberOf(body.frequency_penalty) || undefined,
    presencePenalty: numberOf(body.presence_penalty) || undefined,
    logprobs: topLogprobs ? true : undefined,
    topLogprobs: topLogprobs || undefined,
  });
}

function decodeFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json_object' };
    case 'json_schema':
      return compact({
        type: 'json_schema' as const,
        name: stringOf(format.name),
        description: stringOf(format.description),
        schema: objectOf(format.schema),
        strict: booleanOf(format.strict),
      });
    default:
      throw invalid('text.format.type', 'must be one of text, json_object, json_schema');
  }
}

const EFFORTS: ReadonlySet<string> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] satisfies ReasoningEffort[]);
const isEffort = (value: string): value is ReasoningEffort => EFFORTS.has(value);

function decodeReasoning(reasoning: JsonObject | undefined): Reasoning | undefined {
  const effort = stringOf(reasoning?.effort);
  if (effort !== undefined && !isEffort(effort))
    throw invalid('reasoning.effort', `must be one of ${[...EFFORTS].join(', ')}`);
  const summary = typeof (reasoning?.summary ?? reasoning?.generate_summary) === 'string';
  if (effort === undefined && !summary) return undefined;
  return { ...(effort !== undefined && { effort }), ...(summary && { summary }) };
}

/** Fields whose meaning is lost with the target's API, and values of fields that ask for nothing. */
function unplaced(body: JsonObject): JsonObject | undefined {
  const extras = rest(body, RESPONSES_CONVERSATION);
  if (!extras) return undefined;
  if (extras.background === false) delete extras.background;
  if (extras.truncation === 'disabled') delete extras.truncation;
  return Object.keys(extras).length > 0 ? extras : undefined;
}

/** Features that need what the gateway does not keep, for a target without them. Throws RequestFault. */
export function refuseStateful({ extras = {} }: Pick<Conversation, 'extras'>): void {
  if (typeof extras.previous_response_id === 'string')
    throw new RequestFault(
      'previous_response_not_found',
      `Previous response with id '${extras.previous_response_id.slice(0, 100)}' not found. Send the whole \`input\`.`,
      'previous_response_id',
    );
  for (const field of ['background', 'conversation', 'prompt']) {
    if (extras[field] === undefined) continue;
    throw new RequestFault(
      'unsupported_parameter',
      `\`${field}\` needs a server that keeps it, which this target is not: send the whole \`input\`.`,
      field,
    );
  }
}

/** `tool_choice` of a body with these tools (docs/protocols/openai-responses.md#request). */
function decodeToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
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
