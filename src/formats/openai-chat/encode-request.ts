import type {
  Conversation,
  JsonObject,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  BuiltinTool,
  Tool,
  ToolChoice,
} from '../conversation.ts';
import type { EncodedRequest, ReplyContext, RequestTarget } from '../format.ts';
import { NO_SEARCH, takesWebSearch } from './clean.ts';
import { encodeMessages } from './encode-messages.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';
import { LossReport, reportToolExtras } from '../losses/losses.ts';
import { finish, type Steps } from '../steps.ts';
import { shownText } from '../json/shown.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';

/**
 * Encodes the body for an OpenAI-compatible upstream. `host: 'direct'` is an API that checks its fields as OpenAI does.
 * `host: 'vertex'` is one of the open-model servers behind Vertex AI's OpenAI endpoint, which know the older and the
 * extended fields (docs/protocols/vertex-ai.md#open-models).
 */
export function* encodeInSteps(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const report = new LossReport();
  const { tools, toolChoice, parallel, webSearch } = encodeTools(conversation, target, report);
  yield;
  const body: JsonObject = compact({
    ...encodeExtras(conversation, report),
    model: target.model,
    messages: encodeMessages(conversation.turns, target, report),
    ...encodeLimits(conversation, target, report),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: parallel,
    response_format: encodeResponseFormat(conversation.responseFormat),
    reasoning_effort: encodeEffort(conversation.reasoning, report),
    modalities: conversation.modalities,
    audio: conversation.audio,
    web_search_options: conversation.webSearch ?? webSearch,
    user: conversation.user,
    metadata: conversation.metadata,
    service_tier: encodeServiceTier(conversation, report),
    verbosity: conversation.verbosity,
    ...encodeStreaming(conversation.stream, target),
  });
  reportGoogleFields(conversation, report);
  return { body, losses: report.list(), reply };
}

export const encodeRequest = (...input: Parameters<typeof encodeInSteps>): EncodedRequest =>
  finish(encodeInSteps(...input));

/**
 * Usage is requested wherever the target accepts it: the gateway computes cost from it, whether or not the client
 * requested it (docs/protocols/messages-route.md#requested-usage).
 */
function encodeStreaming(stream: boolean, { streamUsage }: RequestTarget): JsonObject {
  if (!stream) return {};
  return streamUsage === false ? { stream: true } : { stream: true, stream_options: { include_usage: true } };
}

function encodeLimits(conversation: Conversation, target: RequestTarget, report: LossReport): JsonObject {
  const { sampling, maxTokens } = conversation;
  const vertex = target.host === 'vertex';
  if (sampling.topK !== undefined && !vertex) report.dropped('top_k', 'OpenAI chat has no top_k.');
  return {
    // OpenAI's reasoning models refuse `max_tokens`; the servers on Vertex document only `max_tokens`.
    [vertex ? 'max_tokens' : 'max_completion_tokens']: maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: vertex ? sampling.topK : undefined,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: sampling.stop,
    n: sampling.n,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
  };
}

function encodeResponseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format?.type !== 'json_schema') return format && { type: format.type };
  const { name, description, schema, strict } = format;
  // OpenAI requires a name; a schema without one is named `output` (docs/protocols/messages-route.md#strict-format).
  return { type: 'json_schema', json_schema: compact({ name: name ?? 'output', description, schema, strict }) };
}

/**
 * Explicit thinking overrides effort. OpenAI knows only effort, so a budget becomes the nearest effort
 * (docs/protocols/requests.md#explicit-thinking, docs/protocols/requests.md#budget-thresholds).
 */
function encodeEffort(reasoning: Reasoning | undefined, report: LossReport): ReasoningEffort | undefined {
  const thinking = reasoning?.thinking;
  if (!thinking) return reasoning?.effort;
  const { effort } = reasoning;
  if (thinking.type !== 'disabled')
    report.downgraded('thinking', 'OpenAI chat knows only levels of effort: sent as reasoning_effort.');
  const sent = explicitEffort(thinking);
  if (sent === undefined) return effort ?? 'high';
  if (effort !== undefined && effort !== sent)
    report.dropped('reasoning_effort', 'The explicit `thinking` setting wins.');
  return sent;
}

/** Undefined when the setting has no amount. */
function explicitEffort({ type, budgetTokens }: NonNullable<Reasoning['thinking']>): ReasoningEffort | undefined {
  if (type === 'disabled') return 'none';
  return budgetTokens === undefined ? undefined : effortOf(budgetTokens);
}

/** Thresholds between the efforts (docs/protocols/requests.md#budget-thresholds); a budget of 0 turns thinking off. */
function effortOf(budget: number): ReasoningEffort {
  if (budget <= 0) return 'none';
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

function encodeServiceTier({ serviceTier }: Conversation, report: LossReport): string | undefined {
  if (serviceTier === undefined || SERVICE_TIERS.has(serviceTier)) return serviceTier;
  // The reverse of Claude's `standard_only` (docs/protocols/requests.md#service-tier).
  if (serviceTier === 'standard_only') return 'default';
  report.dropped('service_tier', `OpenAI chat has no service tier ${JSON.stringify(shownText(serviceTier))}.`);
  return undefined;
}

/** Extra fields of this API are sent unchanged. Those of another API are reported as lost. */
function encodeExtras({ extras = {}, extrasFormat, tools }: Conversation, report: LossReport): JsonObject {
  if (extrasFormat === 'openai-chat') return extras;
  reportToolExtras(tools, report, 'OpenAI chat has no such field of a tool.');
  for (const param of Object.keys(extras))
    report.dropped(param, `OpenAI chat has no field for ${extrasFormat ?? 'this'} ${param}.`);
  return {};
}

function reportGoogleFields(conversation: Conversation, report: LossReport): void {
  if (conversation.labels) report.dropped('labels', 'OpenAI chat has no cost labels.');
  if (conversation.safetySettings) report.dropped('safety_settings', 'OpenAI chat has no safety settings.');
  if (conversation.imageConfig) report.dropped('image_config', 'OpenAI chat has no image settings.');
}

interface EncodedChatTools {
  readonly tools: readonly JsonObject[] | undefined;
  readonly toolChoice: unknown;
  readonly parallel: boolean | undefined;
  /** Hosted web search is a body field here, not a tool (docs/protocols/openai-chat.md#web-search-options). */
  readonly webSearch: JsonObject | undefined;
}

function encodeTools(conversation: Conversation, target: RequestTarget, report: LossReport): EncodedChatTools {
  const given = conversation.tools ?? [];
  let webSearch: JsonObject | undefined;
  const tools: JsonObject[] = [];
  given.forEach((tool, at) => {
    const path = `tools[${at}]`;
    if (wantsComputerUse(tool)) throw noComputerUse(path);
    const search = isBareSearch(tool) || (tool.type === 'builtin' && tool.kind === 'web_search');
    if (search && target.ownApi && !takesWebSearch(target.model)) report.dropped(path, NO_SEARCH);
    else if (tool.type === 'builtin' && tool.kind === 'web_search') {
      webSearch = encodeWebSearch(tool, path, report);
    } else if (search && takesWebSearch(target.model)) webSearch = {};
    else {
      const encoded = encodeTool(tool, path, report);
      if (encoded) tools.push(encoded);
    }
  });
  if (tools.length === 0 && given.length > 0) return { ...withoutTools(conversation, report), webSearch };
  return {
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: encodeChoice(conversation.toolChoice, given),
    parallel: conversation.parallelToolCalls,
    webSearch,
  };
}

/** When no tool can be sent, the tool settings are dropped: OpenAI refuses both fields without tools. */
function withoutTools({ toolChoice, parallelToolCalls }: Conversation, report: LossReport) {
  const reason = 'None of the tools can be sent.';
  if (toolChoice) report.dropped('tool_choice', reason);
  if (parallelToolCalls !== undefined) report.dropped('parallel_tool_calls', reason);
  return { tools: undefined, toolChoice: undefined, parallel: undefined };
}

function encodeTool(tool: Tool, path: string, report: LossReport): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters, strict } = tool;
      if (tool.cache) report.dropped(`${path}.cache_control`, 'OpenAI chat has no cache markers on tools.');
      return { type: 'function', function: compact({ name, description, parameters, strict }) };
    }
    case 'custom': {
      const { name, description, format } = tool;
      return { type: 'custom', custom: compact({ name, description, format }) };
    }
    case 'builtin':
      // A tool type that only this API has.
      if (tool.kind === 'opaque' && tool.format === 'openai-chat' && tool.options) return tool.options;
      report.dropped(
        path,
        `OpenAI chat has no ${tool.kind === 'opaque' ? 'such' : tool.kind} tool run by the provider.`,
      );
      return undefined;
  }
}

function encodeWebSearch(tool: BuiltinTool, path: string, report: LossReport): JsonObject {
  const options = tool.options ?? {};
  const location = options.user_location;
  const carried = new Set(['type', 'name', 'user_location']);
  for (const key of Object.keys(options)) {
    if (!carried.has(key)) report.dropped(`${path}.${key}`, 'web_search_options has no such setting.');
  }
  if (!isObject(location)) return {};
  // Anthropic's location is flat (docs/protocols/anthropic-messages.md#web-search); OpenAI's is one level down
  // (docs/protocols/openai-chat.md#web-search-options).
  const { type: _, ...approximate } = location;
  return { user_location: { type: 'approximate', approximate } };
}

function encodeChoice(choice: ToolChoice | undefined, tools: readonly Tool[]): unknown {
  if (!choice?.names || choice.mode === 'none') return choice?.mode;
  const custom = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  const entries = choice.names.map((name) => {
    const type = custom.has(name) ? 'custom' : 'function';
    return { type, [type]: { name } };
  });
  if (choice.mode === 'required' && entries.length === 1) return entries[0];
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: entries } };
}
