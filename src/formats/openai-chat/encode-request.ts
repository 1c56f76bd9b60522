import type {
  Conversation,
  JsonObject,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../conversation.ts';
import type { EncodedRequest, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { amountOf, effortForThinking, refusesEffort } from './efforts.ts';
import { encodeMessages } from './encode-messages.ts';
import { NOT_TAKEN, REMOVED_AT_TOP_LEVEL, takes } from './extensions.ts';
import { encodeWebSearch, NO_SEARCH, takesWebSearch } from './own-tools.ts';
import { asFunction, customNames } from '../custom-tools.ts';
import { namedChoice } from '../hosted-choice.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';
import { labelHeader } from '../labels.ts';
import { LossReport, reportToolExtras } from '../losses/losses.ts';
import { thoughtMaker } from './returned-thoughts.ts';
import type { Steps } from '../steps.ts';
import { strictFor } from '../strict-schema.ts';
import { fitStops, limitsOf } from '../target-limits.ts';
import { shownText } from '../json/shown.ts';
import { compact, rest } from '../json/object.ts';

/**
 * Encodes the body for an OpenAI-compatible upstream. `host: 'direct'` is an API that checks its fields as OpenAI does.
 * `host: 'vertex'` is one of the open-model servers behind Vertex AI's OpenAI endpoint, which know the older and the
 * extended fields (docs/protocols/vertex-ai.md#open-models).
 */
export function* encodeRequest(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const report = new LossReport(target.onUnreadablePart);
  const { tools, toolChoice, parallel, webSearch } = encodeTools(conversation, target, report);
  yield;
  const body: JsonObject = compact({
    ...encodeExtras(conversation, target, report),
    ...encodeExtensions(conversation, target, report),
    model: target.model,
    messages: encodeMessages(conversation, target, report),
    ...encodeLimits(conversation, target, report),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: parallel,
    response_format: encodeResponseFormat(conversation.responseFormat, report),
    reasoning_effort: encodeEffort(conversation.reasoning, target, report),
    modalities: conversation.modalities,
    audio: conversation.audio,
    web_search_options: conversation.webSearch ?? webSearch,
    user: conversation.user,
    metadata: conversation.metadata,
    service_tier: encodeServiceTier(conversation, report),
    verbosity: encodeVerbosity(conversation, target, report),
    ...encodeStreaming(conversation.stream, target),
  });
  const headers = target.labelHeader ? labelHeader(conversation.labels, target, report) : undefined;
  const context = replyContext(reply, conversation, target);
  return { body, ...(headers && { headers }), losses: report.list(), reply: context };
}

function replyContext(reply: ReplyContext, { tools = [] }: Conversation, target: RequestTarget): ReplyContext {
  const customTools = target.customTools ? undefined : customNames(tools);
  const maker = thoughtMaker(target);
  return {
    ...reply,
    ...(customTools && customTools.size > 0 && { customTools }),
    ...(maker !== undefined && { thoughtMaker: maker }),
  };
}

/** Usage is always requested: the gateway computes cost (docs/protocols/messages-route.md#requested-usage). */
function encodeStreaming(stream: boolean, { streamUsage }: RequestTarget): JsonObject {
  if (!stream) return {};
  return streamUsage === false ? { stream: true } : { stream: true, stream_options: { include_usage: true } };
}

function encodeLimits({ sampling, maxTokens }: Conversation, target: RequestTarget, report: LossReport): JsonObject {
  const vertex = target.host === 'vertex';
  return {
    // OpenAI's reasoning models refuse `max_tokens`; the servers on Vertex document only `max_tokens`.
    [vertex ? 'max_tokens' : 'max_completion_tokens']: maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: fitStops(sampling.stop, limitsOf('openai-chat', target), report),
    n: sampling.n,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
  };
}

/**
 * Codex sends a verbosity with the names of OpenAI's models, unasked. Servers that only resemble OpenAI refuse the field, as they do
 * free-text tools. A chat client chose the field for its server.
 */
function encodeVerbosity(
  { verbosity, extrasFormat }: Conversation,
  { customTools }: RequestTarget,
  report: LossReport,
): string | undefined {
  if (verbosity === undefined || customTools || extrasFormat !== 'openai-responses') return verbosity;
  return report.dropped('verbosity', 'only OpenAI and Azure are known to take it on chat completions');
}

function encodeResponseFormat(format: ResponseFormat | undefined, report: LossReport): JsonObject | undefined {
  if (format?.type !== 'json_schema') return format && { type: format.type };
  const { name, description, schema } = format;
  const strict = strictFor(format, 'response_format.json_schema.strict', report);
  // OpenAI requires a name; a schema without one is named `output` (docs/protocols/messages-route.md#strict-format).
  return { type: 'json_schema', json_schema: compact({ name: name ?? 'output', description, schema, strict }) };
}

/**
 * Explicit thinking overrides effort. OpenAI knows only effort, so a budget becomes the nearest effort
 * (docs/protocols/requests.md#explicit-thinking, docs/protocols/requests.md#budget-thresholds).
 */
function encodeEffort(
  reasoning: Reasoning | undefined,
  target: RequestTarget,
  report: LossReport,
): ReasoningEffort | undefined {
  if (!reasoning) return undefined;
  const { thinking } = reasoning;
  const effort = takenEffort(reasoning.effort, target, report);
  if (!thinking) return effort;
  const { effort: sent, loss } = effortForThinking(thinking, target);
  if (loss) report.add({ ...loss, param: 'thinking' });
  if (sent === undefined || (effort !== undefined && amountOf(thinking) === undefined)) return effort;
  if (effort !== undefined && effort !== sent)
    report.dropped('reasoning_effort', 'The explicit `thinking` setting wins.');
  return sent;
}

function takenEffort(
  effort: ReasoningEffort | undefined,
  target: RequestTarget,
  report: LossReport,
): ReasoningEffort | undefined {
  if (effort === undefined || !refusesEffort(target)) return effort;
  return report.dropped('reasoning_effort', 'This model refuses reasoning_effort.');
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

function encodeServiceTier({ serviceTier }: Conversation, report: LossReport): string | undefined {
  if (serviceTier === undefined || SERVICE_TIERS.has(serviceTier)) return serviceTier;
  // The reverse of Claude's `standard_only` (docs/protocols/requests.md#service-tier).
  if (serviceTier === 'standard_only') return 'default';
  return report.dropped('service_tier', `OpenAI chat has no service tier ${JSON.stringify(shownText(serviceTier))}.`);
}

/** Extra fields of this API are sent unchanged. Those of another API are reported as lost. */
function encodeExtras(
  { extras = {}, extrasFormat, tools }: Conversation,
  target: RequestTarget,
  report: LossReport,
): JsonObject {
  if (extrasFormat === 'openai-chat') return withoutExtensions(extras, target, report);
  reportToolExtras(tools, report, 'OpenAI chat has no such field of a tool.');
  for (const param of Object.keys(extras))
    report.dropped(param, `OpenAI chat has no field for ${extrasFormat ?? 'this'} ${param}.`);
  return {};
}

/** Fields of the conversation that OpenAI's API does not have. */
function encodeExtensions(conversation: Conversation, target: RequestTarget, report: LossReport): JsonObject {
  const { sampling, safetySettings, imageConfig } = conversation;
  const labels = target.labelHeader ? undefined : conversation.labels;
  const fields = { top_k: sampling.topK, labels, safety_settings: safetySettings, image_config: imageConfig };
  return withoutExtensions(compact(fields), target, report);
}

function withoutExtensions(fields: JsonObject, target: RequestTarget, report: LossReport): JsonObject {
  const refused = REMOVED_AT_TOP_LEVEL.filter((name) => Object.hasOwn(fields, name) && !takes(target, name));
  for (const name of refused) report.dropped(name, NOT_TAKEN);
  return refused.length > 0 ? (rest(fields, refused) ?? {}) : fields;
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
    const hosted = tool.type === 'builtin' && tool.kind === 'web_search';
    // Agents offer a hosted search in every request, and servers with OpenAI's API refuse the field it becomes here
    // (docs/protocols/openai-chat.md#web-search-options) unless their entry lists such tools.
    const known = hosted ? target.extensions?.has('provider_tools') === true : takes(target, 'web_search');
    const search = hosted || isBareSearch(tool);
    if (search && !known && !takesWebSearch(target.model)) report.dropped(path, NO_SEARCH);
    else if (hosted) webSearch = encodeWebSearch(tool, path, { target, report }) ?? webSearch;
    else if (search && takesWebSearch(target.model)) webSearch = {};
    else {
      const encoded = encodeTool(tool, path, target, report);
      if (encoded) tools.push(encoded);
    }
  });
  if (tools.length === 0 && given.length > 0) return { ...withoutTools(conversation, report), webSearch };
  return {
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: encodeChoice(
      namedChoice(conversation.toolChoice, () => undefined, report),
      target.customTools ? customNames(given) : NONE,
    ),
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

function encodeTool(tool: Tool, path: string, target: RequestTarget, report: LossReport): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters } = tool;
      const strict = strictFor({ ...tool, schema: parameters }, `${path}.function.strict`, report);
      if (tool.cache) report.dropped(`${path}.cache_control`, 'OpenAI chat has no cache markers on tools.');
      return { type: 'function', function: compact({ name, description, parameters, strict }) };
    }
    case 'custom': {
      if (!target.customTools) return { type: 'function', function: asFunction(tool, path, report) };
      const { name, description, format } = tool;
      return { type: 'custom', custom: compact({ name, description, format }) };
    }
    case 'builtin':
      // A tool type that only this API has.
      if (tool.kind === 'opaque' && tool.format === 'openai-chat' && tool.options) return tool.options;
      return report.dropped(
        path,
        `OpenAI chat has no ${tool.kind === 'opaque' ? 'such' : tool.kind} tool run by the provider.`,
      );
  }
}

const NONE: ReadonlySet<string> = new Set();

function encodeChoice(choice: ToolChoice | undefined, custom: ReadonlySet<string>): unknown {
  if (!choice?.names || choice.mode === 'none') return choice?.mode;
  const entries = choice.names.map((name) => {
    const type = custom.has(name) ? 'custom' : 'function';
    return { type, [type]: { name } };
  });
  if (choice.mode === 'required' && entries.length === 1) return entries[0];
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: entries } };
}
