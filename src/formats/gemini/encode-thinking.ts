import type { JsonObject, Reasoning, ReasoningEffort } from '../conversation.ts';
import type { LossReport } from '../losses/losses.ts';
import type { ThinkingControl, ThinkingLevel } from './models.ts';

interface ThinkingInputs {
  readonly control: ThinkingControl | undefined;
  /** Thoughts are requested only when the client may see them (docs/protocols/requests.md#visible-thoughts). */
  readonly showThoughts: boolean;
  readonly losses: LossReport;
}

/**
 * Encodes `thinkingConfig` (docs/protocols/gemini.md#thinking-config). A budget and a level together are a 400, so each
 * generation gets only its own control.
 */
export function encodeThinking(reasoning: Reasoning | undefined, inputs: ThinkingInputs): JsonObject | undefined {
  const requested = reasoning && requestedThinking(reasoning, inputs.losses);
  if (!requested) return undefined;
  const { control, losses } = inputs;
  if (!control) {
    // A model that cannot think already does what "off" requests.
    if (requested.amount !== 'off') losses.dropped(requested.param, 'this model has no thinking to control');
    return undefined;
  }
  const amount =
    control.by === 'budget' ? budgetFor(requested, control, losses) : levelFor(requested, control.levels, losses);
  const hidden = requested.amount === 'off' || !requested.visible;
  if (hidden || inputs.showThoughts) return { ...amount, includeThoughts: !hidden };
  return Object.keys(amount).length > 0 ? amount : undefined;
}

interface ThinkingRequest {
  /** `auto`: the model decides. A number is an explicit budget. */
  readonly amount: 'off' | 'auto' | number | Exclude<ReasoningEffort, 'none'>;
  readonly visible: boolean;
  readonly param: string;
}

/** Explicit thinking overrides effort. Explicit thinking without an amount uses the effort's amount. */
function requestedThinking({ effort, thinking }: Reasoning, losses: LossReport): ThinkingRequest | undefined {
  const byEffort: ThinkingRequest | undefined = effort && {
    amount: effort === 'none' ? 'off' : effort,
    visible: true,
    param: 'reasoning_effort',
  };
  if (!thinking) return byEffort;
  if (thinking.type === 'between_tools') {
    losses.dropped('thinking.type', 'Gemini cannot think between tools only');
    return byEffort;
  }
  const visible = thinking.display !== 'omitted';
  const amount = amountOf(thinking);
  if (amount === 'auto' && byEffort && byEffort.amount !== 'off') return { ...byEffort, visible };
  if (byEffort && byEffort.amount !== amount) {
    losses.dropped('reasoning_effort', 'the explicit `thinking` setting wins');
  }
  return { amount, visible, param: 'thinking' };
}

function amountOf({ type, budgetTokens }: NonNullable<Reasoning['thinking']>): 'off' | 'auto' | number {
  if (type === 'disabled' || budgetTokens === 0) return 'off';
  return type === 'enabled' ? (budgetTokens ?? 'auto') : 'auto';
}

type Budget = Extract<ThinkingControl, { by: 'budget' }>;

/** Low, medium and high are the budgets of Google's own OpenAI endpoint (docs/protocols/requests.md#reasoning). */
const BUDGETS = { minimal: 512, low: 1024, medium: 8192, high: 24576, xhigh: 32768, max: 32768 } as const;

function budgetFor({ amount, param }: ThinkingRequest, control: Budget, losses: LossReport): JsonObject {
  // -1 is Google's value for automatic; clients of this format send it themselves.
  if (amount === 'auto' || amount === -1) return { thinkingBudget: -1 };
  if (amount === 'off') {
    if (control.off !== 0) losses.clamped(param, `this model cannot stop thinking: budget ${control.off}`);
    return { thinkingBudget: control.off };
  }
  const wanted = typeof amount === 'number' ? amount : BUDGETS[amount];
  const budget = Math.min(control.max, Math.max(control.min, wanted));
  if (budget !== wanted) losses.clamped(param, `budgets of this model go from ${control.min} to ${control.max}`);
  return { thinkingBudget: budget };
}

function levelFor(
  { amount, param }: ThinkingRequest,
  levels: readonly ThinkingLevel[],
  losses: LossReport,
): JsonObject {
  if (amount === 'auto' || amount === -1) return {};
  const lowest = levels[0]!;
  if (amount === 'off') {
    losses.clamped(param, `this model cannot stop thinking: level ${lowest}`);
    return { thinkingLevel: lowest };
  }
  if (typeof amount === 'number') {
    losses.downgraded(param, 'this model takes a thinking level, not a budget');
    return { thinkingLevel: nearest(levelOfBudget(amount), levels) };
  }
  const wanted: ThinkingLevel = LEVELS[amount];
  const level = nearest(wanted, levels);
  if (level !== wanted || amount === 'xhigh' || amount === 'max') {
    losses.clamped(param, `levels of this model: ${levels.join(', ')}`);
  }
  return { thinkingLevel: level };
}

const LEVELS = { minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM', high: 'HIGH', xhigh: 'HIGH', max: 'HIGH' } as const;

function levelOfBudget(budget: number): ThinkingLevel {
  return budget <= 1024 ? 'LOW' : budget <= 8192 ? 'MEDIUM' : 'HIGH';
}

/** Returns the level itself, or the next one up: LOW without MINIMAL, HIGH without MEDIUM. */
function nearest(level: ThinkingLevel, levels: readonly ThinkingLevel[]): ThinkingLevel {
  const order: readonly ThinkingLevel[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  return levels.find((candidate) => order.indexOf(candidate) >= order.indexOf(level)) ?? levels.at(-1)!;
}
