import type { Conversation, JsonObject } from '../conversation.ts';
import type { EncodedRequest, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import {
  betasOf,
  isModelInBody,
  encodeExtras,
  reportUnknown,
  VERTEX_VERSION,
  encodeSampling,
} from './encode-extras.ts';
import { AnswerLimit } from './answer-limit.ts';
import { planAnswer, type AnswerPlan } from './encode-answer.ts';
import { customNames } from '../custom-tools.ts';
import { MCP_BETA, McpServers } from './encode-mcp.ts';
import { encodeToolSection, encodeTools, withNamedChoice } from './encode-tools.ts';
import { isManual, isThinkingOn, planThinking, type ThinkingPlan } from './encode-thinking.ts';
import { encodeTurns, loopLostThinking, type EncodedTurns } from './encode-turns.ts';
import { labelHeader } from '../labels.ts';
import { LossReport } from '../losses/losses.ts';
import type { Steps } from '../steps.ts';
import { modelFacts } from './models.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { ToolIds } from './tool-ids.ts';
import { absorb, isObject, objectOf } from '../json/object.ts';

/**
 * Conversation → Messages API body (docs/protocols/anthropic-messages.md#request-fields, docs/protocols/requests.md#messages-for-claude).
 */
export function* encodeRequest(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const given: RequestContext = {
    conversation,
    target,
    facts: modelFacts(target.model),
    losses: new LossReport(target.onUnreadablePart),
    ids: new ToolIds(),
    servers: new McpServers(conversation, target),
    limit: new AnswerLimit(conversation, target),
    native: conversation.extrasFormat === 'anthropic-messages',
  };
  const turns = encodeTurns(given);
  yield;
  const plan = keepThinking(planThinking(given), turns, given);
  const declared = encodeTools(given);
  const context = withNamedChoice(declared, given);
  yield;
  const mayForce = context.facts.forcedTools && !isManual(plan);
  const answer = planAnswer(declared, mayForce, context);
  const extras = encodeExtras(context);
  reportUnknown(context);
  const body: JsonObject = {};
  if (target.host === 'vertex') body.anthropic_version = VERTEX_VERSION;
  if (isModelInBody(target)) body.model = target.model;
  body.max_tokens = context.limit.tokens;
  const system = systemOf(turns, answer);
  if (system.length > 0) body.system = system;
  body.messages = turns.messages;
  const { tools, tool_choice } = encodeToolSection(declared, answer, mayForce, context);
  if (tools) body.tools = tools;
  if (tool_choice) body.tool_choice = tool_choice;
  const servers = given.servers.definitionsOf(tools);
  if (servers) body.mcp_servers = servers;
  absorb(body, encodeSampling(context, isThinkingOn(plan)));
  if (plan.thinking) body.thinking = plan.thinking;
  absorb(body, extras);
  absorb(body, outputConfig(plan, answer, extras));
  if (conversation.stream) body.stream = true;
  const needed = servers || given.servers.hasBlocks ? [MCP_BETA] : [];
  const betas = betasOf(conversation, turns.messages, needed);
  const labels = labelHeader(conversation.labels, target, context.losses);
  const headers = { ...(betas !== undefined && { 'anthropic-beta': betas }), ...labels };
  return {
    body,
    ...(Object.keys(headers).length > 0 && { headers }),
    losses: context.losses.list(),
    defaulted: context.limit.defaulted,
    reply: replyContext(reply, answer, conversation),
  };
}

/** Without the thinking of its first turn, a tool loop can continue only without thinking (docs/protocols/replies.md#lost-thinking). */
function keepThinking(plan: ThinkingPlan, turns: EncodedTurns, context: RequestContext): ThinkingPlan {
  if (!isManual(plan) || !loopLostThinking(turns.messages)) return plan;
  const param = context.conversation.reasoning?.thinking ? 'thinking' : 'reasoning_effort';
  context.losses.dropped(param, 'the thinking that began this tool loop is missing from the messages');
  return plan.effort === undefined ? {} : { effort: plan.effort };
}

function systemOf({ system }: EncodedTurns, { systemLine }: AnswerPlan): readonly WireBlock[] {
  // The line comes last, so that a cache marker before it still covers the same prefix.
  return systemLine === undefined ? system : [...system, { type: 'text', text: systemLine }];
}

function outputConfig({ effort }: ThinkingPlan, { format }: AnswerPlan, extras: JsonObject): JsonObject {
  if (effort === undefined && !format && !isObject(extras.output_config)) return {};
  const config = {
    ...objectOf(extras.output_config),
    ...(effort !== undefined && { effort }),
    ...(format && { format }),
  };
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

function replyContext(reply: ReplyContext, { jsonTool }: AnswerPlan, { tools }: Conversation): ReplyContext {
  if (!tools && !jsonTool) return reply;
  const customTools = customNames(tools ?? []);
  return { ...reply, ...(customTools.size > 0 && { customTools }), ...(jsonTool && { jsonTool: jsonTool.name }) };
}
