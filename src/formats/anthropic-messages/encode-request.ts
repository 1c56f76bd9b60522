import type { Conversation, JsonObject } from '../conversation.ts';
import type { EncodedRequest, ReplyContext, RequestTarget } from '../format.ts';
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
import { encodeToolSection, customNames, encodeTools } from './encode-tools.ts';
import { isManual, isThinkingOn, planThinking, type ThinkingPlan } from './encode-thinking.ts';
import { encodeTurns, loopLostThinking, type EncodedTurns } from './encode-turns.ts';
import { LossReport } from '../losses/losses.ts';
import { finish, type Steps } from '../steps.ts';
import { modelFacts } from './models.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { ToolIds } from './tool-ids.ts';
import { objectOf } from '../json/object.ts';

/**
 * Conversation → Messages API body (docs/protocols/anthropic-messages.md#request-fields, docs/protocols/requests.md#messages-for-claude).
 */
export function* encodeInSteps(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const context: RequestContext = {
    conversation,
    target,
    facts: modelFacts(target.model),
    losses: new LossReport(),
    ids: new ToolIds(),
    limit: new AnswerLimit(conversation, target),
    native: conversation.extrasFormat === 'anthropic-messages',
  };
  const turns = encodeTurns(context);
  yield;
  const plan = keepThinking(planThinking(context), turns, context);
  const declared = encodeTools(context);
  yield;
  const mayForce = context.facts.forcedTools && !isManual(plan);
  const answer = planAnswer(declared, mayForce, context);
  const extras = encodeExtras(context);
  reportUnknown(context);
  const body: JsonObject = {
    ...(target.host === 'vertex' && { anthropic_version: VERTEX_VERSION }),
    ...(isModelInBody(target) && { model: target.model }),
    max_tokens: context.limit.tokens,
    ...systemOf(turns, answer),
    messages: turns.messages,
    ...encodeToolSection(declared, answer, mayForce, context),
    ...encodeSampling(context, isThinkingOn(plan)),
    ...(plan.thinking && { thinking: plan.thinking }),
    ...extras,
    ...outputConfig(plan, answer, extras),
    ...(conversation.stream && { stream: true }),
  };
  const betas = betasOf(conversation, turns.messages);
  return {
    body,
    ...(betas !== undefined && { headers: { 'anthropic-beta': betas } }),
    losses: context.losses.list(),
    defaulted: context.limit.defaulted,
    reply: replyContext(reply, answer, conversation),
  };
}

export const encodeRequest = (...input: Parameters<typeof encodeInSteps>): EncodedRequest =>
  finish(encodeInSteps(...input));

/** Without the thinking of its first turn, a tool loop can continue only without thinking (docs/protocols/replies.md#lost-thinking). */
function keepThinking(plan: ThinkingPlan, turns: EncodedTurns, context: RequestContext): ThinkingPlan {
  if (!isManual(plan) || !loopLostThinking(turns.messages)) return plan;
  const param = context.conversation.reasoning?.thinking ? 'thinking' : 'reasoning_effort';
  context.losses.dropped(param, 'the thinking that began this tool loop is missing from the messages');
  return plan.effort === undefined ? {} : { effort: plan.effort };
}

function systemOf({ system }: EncodedTurns, { systemLine }: AnswerPlan): JsonObject {
  // The line comes last, so that a cache marker before it still covers the same prefix.
  const blocks: readonly WireBlock[] =
    systemLine === undefined ? system : [...system, { type: 'text', text: systemLine }];
  return blocks.length > 0 ? { system: blocks } : {};
}

function outputConfig({ effort }: ThinkingPlan, { format }: AnswerPlan, extras: JsonObject): JsonObject {
  const config = {
    ...objectOf(extras.output_config),
    ...(effort !== undefined && { effort }),
    ...(format && { format }),
  };
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

function replyContext(reply: ReplyContext, { jsonTool }: AnswerPlan, { tools }: Conversation): ReplyContext {
  const customTools = customNames(tools);
  return { ...reply, ...(customTools.size > 0 && { customTools }), ...(jsonTool && { jsonTool: jsonTool.name }) };
}
