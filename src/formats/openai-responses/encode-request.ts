import type { Conversation, JsonObject, McpServer, ResponseFormat, Tool, ToolChoice } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { EncodedRequest, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { compact, objectOf, stringOf } from '../json/object.ts';
import { LossReport } from '../losses/losses.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';
import { amountOf, effortForThinking, refusesEffort } from '../openai-chat/efforts.ts';
import type { Steps } from '../steps.ts';
import { strictFor } from '../strict-schema.ts';
import { encodeItems } from './encode-items.ts';
import { mcpTool } from './mcp-items.ts';
import { brokenLimit } from '../search-limits.ts';

/** Conversation → Responses body (docs/protocols/openai-responses.md#request). */
export function* encodeRequest(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const losses = new LossReport(target.onUnreadablePart);
  const { sampling, user, metadata, stream } = conversation;
  const input = encodeItems(conversation.turns, losses, target);
  yield;
  const tools = encodeTools(conversation, losses);
  yield;
  const text = encodeText(conversation, losses);
  const effort = encodeEffort(conversation, target, losses);
  const reasoning = compact({ effort, summary: target.strict || isDull(target) ? undefined : 'auto' });
  reportLost(conversation, losses);
  const body: JsonObject = compact({
    ...encodeExtras(conversation, losses),
    model: target.model,
    input,
    max_output_tokens: encodeLimit(conversation, losses),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.topLogprobs,
    ...tools,
    text: Object.keys(text).length > 0 ? text : undefined,
    reasoning: Object.keys(reasoning).length > 0 ? reasoning : undefined,
    include: included(conversation, target),
    // The gateway sends whole conversations: nothing has to be kept.
    store: false,
    ...(user !== undefined && { safety_identifier: user }),
    metadata,
    service_tier: conversation.serviceTier === 'standard_only' ? 'default' : conversation.serviceTier,
    stream: stream || undefined,
  });
  return { body, losses: losses.list(), reply };
}

/** True for models that do not reason: they refuse to encrypt what they do not have. */
const isDull = ({ model }: Pick<RequestTarget, 'model'>): boolean => /(?<![a-z0-9])(?:chatgpt-|gpt-?[34])/i.test(model);

function included({ sampling }: Conversation, target: RequestTarget): readonly string[] | undefined {
  const include = [
    ...(isDull(target) ? [] : ['reasoning.encrypted_content']),
    ...(sampling.logprobs ? ['message.output_text.logprobs'] : []),
  ];
  return include.length > 0 ? include : undefined;
}

/** The API refuses lower limits. */
const LEAST_TOKENS = 16;

function encodeLimit({ maxTokens }: Conversation, losses: LossReport): number | undefined {
  if (maxTokens === undefined || maxTokens >= LEAST_TOKENS) return maxTokens;
  losses.clamped('max_tokens', `the Responses API takes no limit below ${LEAST_TOKENS}`);
  return LEAST_TOKENS;
}

function encodeEffort({ reasoning }: Conversation, target: RequestTarget, losses: LossReport): string | undefined {
  if (!reasoning) return undefined;
  const { thinking } = reasoning;
  let { effort } = reasoning;
  if (effort !== undefined && refusesEffort(target)) {
    losses.dropped('reasoning_effort', 'This model refuses an effort.');
    effort = undefined;
  }
  if (!thinking || (effort !== undefined && amountOf(thinking) === undefined)) return effort;
  const { effort: sent, loss } = effortForThinking(thinking, target);
  if (loss) losses.add({ ...loss, param: 'thinking' });
  return sent ?? effort;
}

function encodeText({ responseFormat, verbosity }: Conversation, losses: LossReport): JsonObject {
  return compact({ format: encodeFormat(responseFormat, losses), verbosity });
}

function encodeFormat(format: ResponseFormat | undefined, losses: LossReport): JsonObject | undefined {
  if (format?.type !== 'json_schema') return format && { type: format.type };
  const { name = 'output', description, schema } = format;
  const strict = strictFor(format, 'response_format.json_schema.strict', losses);
  // The API is strict unless it is asked not to be.
  return compact({ type: format.type, name, description, schema, strict: strict ?? false });
}

function encodeTools(conversation: Conversation, losses: LossReport): JsonObject {
  const { tools: given = [], toolChoice, parallelToolCalls, webSearch } = conversation;
  const tools = given.flatMap((tool, at) => encodeTool(tool, `tools[${at}]`, losses) ?? []);
  const search = webSearch && encodeHostedSearch(webSearch, 'web_search_options', losses);
  if (search) tools.push(search);
  if (tools.length > 0)
    return compact({
      tools,
      tool_choice: encodeChoice(toolChoice, given),
      parallel_tool_calls: parallelToolCalls,
    });
  const reason = 'None of the tools can be sent.';
  if (toolChoice && given.length > 0) losses.dropped('tool_choice', reason);
  return {};
}

function encodeTool(tool: Tool, path: string, losses: LossReport): JsonObject | undefined {
  if (wantsComputerUse(tool)) throw noComputerUse(path);
  switch (tool.type) {
    case 'function': {
      const isSearch: boolean = isBareSearch(tool);
      if (isSearch) return { type: 'web_search' };
      const { name, description, parameters } = tool;
      if (tool.cache) losses.dropped(`${path}.cache_control`, 'the Responses API has no cache markers');
      for (const key of Object.keys(tool.extras ?? {}))
        if (key !== 'defer_loading') losses.dropped(`${path}.${key}`, 'the Responses API has no such field of a tool');
      // The API is strict unless it is asked not to be, and demands `parameters`.
      return compact({
        type: tool.type,
        name,
        description,
        parameters: parameters ?? { type: 'object', properties: {} },
        strict: strictFor({ ...tool, schema: parameters }, `${path}.function.strict`, losses) ?? false,
      });
    }
    case 'custom': {
      const { type, name, description, format } = tool;
      return compact({ type, name, description, format: flatFormat(format) });
    }
    case 'builtin':
      if (tool.kind === 'web_search') return encodeHostedSearch(tool.options ?? {}, path, losses);
      if (tool.kind === 'code_execution') return { type: 'code_interpreter', container: { type: 'auto' } };
      if (tool.format === 'openai-responses' && tool.options) return tool.options;
      if (tool.kind === 'image_generation') return { ...tool.options, type: tool.kind };
      if (tool.server) return encodeServer(tool.server, path, losses);
      return losses.dropped(path, `The Responses API has no ${tool.kind === 'opaque' ? 'such' : tool.kind} tool.`);
  }
}

/** Throws RequestFault for a server with limits that this API does not have. */
function encodeServer(server: McpServer, path: string, losses: LossReport): JsonObject {
  for (const { field, reason } of server.binding ?? [])
    throw new RequestFault('unsupported_parameter', `\`${path}.${field}\`: ${reason}.`, `${path}.${field}`);
  for (const { field, action, reason } of server.lost ?? []) losses.add({ param: `${path}.${field}`, action, reason });
  return mcpTool(server);
}

/** The chat API nests a grammar, this one does not. */
function flatFormat(format: JsonObject | undefined): JsonObject | undefined {
  const grammar = objectOf(format?.grammar);
  return grammar ? { type: 'grammar', ...grammar } : format;
}

function encodeChoice(choice: ToolChoice | undefined, tools: readonly Tool[]): unknown {
  if (!choice?.names || choice.mode === 'none') return choice?.mode;
  const custom = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  const entries: JsonObject[] = choice.names.map((name) => ({ type: custom.has(name) ? 'custom' : 'function', name }));
  for (const { options = {} } of choice.hosted ?? [])
    entries.push(compact({ type: options.type, server_label: options.server_label, name: options.name }));
  if (choice.mode === 'required' && entries.length === 1) return entries[0];
  return { type: 'allowed_tools', mode: choice.mode, tools: entries };
}

/** Settings of the chat API that this API does not have. */
function reportLost(conversation: Conversation, losses: LossReport): void {
  const { sampling, labels, safetySettings, imageConfig, modalities, audio } = conversation;
  const lost = {
    stop: sampling.stop,
    n: sampling.n === 1 ? undefined : sampling.n,
    seed: sampling.seed,
    top_k: sampling.topK,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    labels,
    safety_settings: safetySettings,
    image_config: imageConfig,
    modalities: modalities?.every((modality) => modality === 'text') ? undefined : modalities,
    audio,
  };
  for (const [name, value] of Object.entries(lost))
    if (value !== undefined) losses.dropped(name, 'the Responses API has no such setting');
}

/** Fields that the chat API and this one have in common. */
const SHARED: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'moderation',
]);

function encodeExtras({ extras = {}, extrasFormat }: Conversation, losses: LossReport): JsonObject {
  if (extrasFormat === 'openai-responses') return extras;
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(extras)) {
    if (extrasFormat === 'openai-chat' && SHARED.has(name)) kept[name] = value;
    else if (name !== 'store' || value !== false) losses.dropped(name, 'the Responses API has no such field');
  }
  return kept;
}

/** `web_search_options` of the chat API as a tool. The location of that API is nested, Anthropic's flat. */
function encodeSearch(options: JsonObject): JsonObject {
  const location = objectOf(options.user_location);
  const place = objectOf(location?.approximate) ?? location;
  return compact({
    type: 'web_search',
    user_location: place && { ...place, type: 'approximate' },
    search_context_size: stringOf(options.search_context_size),
  });
}

const ENVELOPE = ['type', 'name', 'cache_control'];
const MAPPED = ['user_location', 'search_context_size', 'allowed_domains'];
/** Settings that only this API has (docs/protocols/openai-responses.md#request). */
const OWN = ['external_web_access', 'indexed_web_access', 'filters', 'search_content_types'];
const KNOWN: ReadonlySet<string> = new Set([...ENVELOPE, ...MAPPED, ...OWN]);

/** A search tool of any API. */
function encodeHostedSearch(options: JsonObject, path: string, losses: LossReport): JsonObject | undefined {
  const broken = brokenLimit('web_search', options, 'openai-responses');
  if (broken !== undefined) return losses.dropped(path, broken);
  for (const key of Object.keys(options))
    if (!KNOWN.has(key)) losses.dropped(`${path}.${key}`, 'the search of the Responses API has no such setting');
  const own = Object.fromEntries(OWN.flatMap((key) => (key in options ? [[key, options[key]]] : [])));
  const domains = options.allowed_domains;
  return { ...encodeSearch(options), ...own, ...(Array.isArray(domains) && { filters: { allowed_domains: domains } }) };
}
