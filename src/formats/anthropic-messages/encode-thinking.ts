import type { JsonObject, Reasoning, ReasoningEffort } from '../conversation.ts';
import type { RequestContext } from './request-context.ts';

/** The thinking fields of a request. */
export interface ThinkingPlan {
  readonly thinking?: JsonObject;
  /** `output_config.effort`. */
  readonly effort?: string;
}

type Effort = Exclude<ReasoningEffort, 'none'>;
type Explicit = NonNullable<Reasoning['thinking']>;

/** Budgets for models that take no effort (docs/protocols/requests.md#reasoning). */
const BUDGETS: Record<Effort, number> = {
  minimal: 1024,
  low: 2048,
  medium: 10_000,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};
const MIN_BUDGET = 1024;

export function isThinkingOn(plan: ThinkingPlan): boolean {
  return plan.thinking !== undefined && plan.thinking.type !== 'disabled';
}

/**
 * Manual thinking restricts the tool choice and replayed turns; adaptive thinking restricts neither
 * (docs/protocols/anthropic-messages.md#tool-choice, docs/protocols/anthropic-messages.md#thinking-blocks).
 */
export function isManual(plan: ThinkingPlan): boolean {
  return plan.thinking?.type === 'enabled';
}

export function planThinking(context: RequestContext): ThinkingPlan {
  const { reasoning } = context.conversation;
  if (!reasoning) return {};
  const { effort, thinking } = reasoning;
  if (context.facts.thinking === 'none') return dropAll(reasoning, context);
  if (thinking) return planExplicit(thinking, effort, context);
  if (effort === undefined) return reasoning.summary ? planSummary(context) : {};
  return isNativeEffort(context) ? planNativeEffort(effort, context) : planEffort(effort, context);
}

function dropAll({ effort, thinking }: Reasoning, context: RequestContext): ThinkingPlan {
  const reason = 'this model does not think';
  if (thinking && thinking.type !== 'disabled') context.losses.dropped('thinking', reason);
  if (effort !== undefined && effort !== 'none') context.losses.dropped(effortParam(context), reason);
  return {};
}

/** A wish for summaries turns no thinking on: it concerns models that always think. */
const planSummary = ({ facts }: RequestContext): ThinkingPlan =>
  facts.turnOff === 'never' ? { thinking: { type: 'adaptive', display: 'summarized' } } : {};

/** `reasoning_effort` of an OpenAI body turns thinking on and sets its depth (docs/protocols/requests.md#reasoning). */
function planEffort(effort: ReasoningEffort, context: RequestContext): ThinkingPlan {
  const param = effortParam(context);
  if (effort === 'none') return context.facts.thinking === 'manual' ? {} : turnOff(param, context);
  if (context.facts.thinking === 'manual') return manual({ type: 'enabled' }, BUDGETS[effort], param, context);
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effortWord(effort, context) };
}

/** `output_config.effort` without `thinking` concerns the whole answer and does not turn thinking on. */
function planNativeEffort(effort: ReasoningEffort, context: RequestContext): ThinkingPlan {
  if (effort !== 'none' && context.facts.effort) return { effort: effortWord(effort, context) };
  context.losses.dropped(effortParam(context), 'this model has no effort setting');
  return {};
}

/** An explicit `thinking` wins (docs/protocols/requests.md#explicit-thinking). The effort may set its depth. */
function planExplicit(explicit: Explicit, effort: ReasoningEffort | undefined, context: RequestContext): ThinkingPlan {
  const plan = planType(explicit, effort, context);
  if (effort === undefined) return plan;
  const on = (explicit.type === 'enabled' || explicit.type === 'adaptive') && explicit.budgetTokens !== 0;
  if (effort !== 'none' && isNativeEffort(context) && context.facts.effort) {
    return { ...plan, effort: nativeEffort(effort, plan, context) };
  }
  const agreed = effort === 'none' ? !on : on && explicit.budgetTokens === undefined;
  if (!agreed) context.losses.dropped(effortParam(context), 'the explicit `thinking` setting wins');
  return plan;
}

function planType(explicit: Explicit, effort: ReasoningEffort | undefined, context: RequestContext): ThinkingPlan {
  const { facts, losses } = context;
  const { type, budgetTokens: budget } = explicit;
  if (type === 'disabled' || budget === 0) return turnOff('thinking', context);
  if (type === 'between_tools') {
    // The model decides which types are legal (docs/protocols/anthropic-messages.md#thinking); models that take budgets are older than
    // this type.
    if (facts.thinking === 'adaptive') return { thinking: { type } };
    losses.dropped('thinking', 'this model cannot confine its thinking to the time between tool calls');
    return {};
  }
  if (facts.thinking === 'manual' || (facts.thinking === 'both' && type === 'enabled')) {
    if (type === 'adaptive') losses.downgraded('thinking', 'this model thinks within a fixed budget only');
    const wanted = budget ?? BUDGETS[effort === undefined || effort === 'none' ? 'high' : effort];
    if (budget === undefined && type === 'enabled') {
      losses.clamped('thinking.budget_tokens', `this model needs a budget: ${wanted} was sent`);
    }
    return manual(explicit, wanted, 'thinking', context);
  }
  return adaptive(explicit, effort, context);
}

function adaptive(explicit: Explicit, effort: ReasoningEffort | undefined, context: RequestContext): ThinkingPlan {
  const display = explicit.display ?? (context.native ? undefined : 'summarized');
  const thinking = { type: 'adaptive', ...(display !== undefined && { display }) };
  const { budgetTokens: budget } = explicit;
  if (budget === undefined) {
    // A native effort is independent of the type of thinking: `planExplicit` adds it.
    const amount =
      context.native || effort === undefined || effort === 'none' ? undefined : effortWord(effort, context);
    return { thinking, ...(amount !== undefined && { effort: amount }) };
  }
  context.losses.downgraded('thinking.budget_tokens', 'this model takes an effort instead of a budget');
  return { thinking, effort: budget <= 2048 ? 'low' : budget <= 10_000 ? 'medium' : 'high' };
}

function turnOff(param: string, { facts, losses }: RequestContext): ThinkingPlan {
  switch (facts.turnOff) {
    case 'disabled':
      return { thinking: { type: 'disabled' } };
    case 'between_tools':
      losses.downgraded(param, 'this model can only confine its thinking to the time between tool calls');
      return { thinking: { type: 'between_tools' } };
    case 'never':
      losses.dropped(param, 'this model always thinks');
      return {};
  }
}

/** A budget that leaves no answer is cut to half (docs/protocols/requests.md#budget-below-max-tokens). */
function manual(explicit: Explicit, wanted: number, param: string, context: RequestContext): ThinkingPlan {
  const { losses } = context;
  context.limit.makeRoomFor(wanted);
  const limit = context.limit.tokens;
  if (limit <= MIN_BUDGET) {
    losses.dropped(param, `max_tokens leaves no room for the smallest thinking budget, ${MIN_BUDGET}`);
    return {};
  }
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2);
  const budget = Math.max(MIN_BUDGET, fitting);
  const field = param === 'thinking' ? 'thinking.budget_tokens' : param;
  if (budget < wanted) losses.clamped(field, `the budget must be below max_tokens: ${budget} instead of ${wanted}`);
  if (budget > wanted) losses.clamped(field, `the smallest budget is ${MIN_BUDGET}`);
  const { display } = explicit;
  return { thinking: { type: 'enabled', budget_tokens: budget, ...(display !== undefined && { display }) } };
}

function nativeEffort(effort: Effort, plan: ThinkingPlan, context: RequestContext): string {
  const { facts, losses } = context;
  const disabled = plan.thinking?.type === 'disabled';
  if (disabled && facts.highEffortNeedsThinking && (effort === 'xhigh' || effort === 'max')) {
    losses.clamped('output_config.effort', 'this model takes xhigh and max only with thinking on');
    return 'high';
  }
  return effortWord(effort, context);
}

/** Claude's efforts begin at `low`, and not every model knows `xhigh` (docs/protocols/requests.md#reasoning). */
function effortWord(effort: Effort, context: RequestContext): string {
  const word = effort === 'minimal' ? 'low' : effort === 'xhigh' && !context.facts.xhighEffort ? 'max' : effort;
  if (word !== effort)
    context.losses.clamped(effortParam(context), `this model has no effort ${effort}: ${word} was sent`);
  return word;
}

const isNativeEffort = ({ conversation: { reasoning }, native }: RequestContext): boolean =>
  reasoning?.effortOf === undefined ? native : reasoning.effortOf === 'anthropic-messages';

function effortParam(context: RequestContext): string {
  return isNativeEffort(context) ? 'output_config.effort' : 'reasoning_effort';
}
