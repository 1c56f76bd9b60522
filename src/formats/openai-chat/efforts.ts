import type { Loss, Reasoning, ReasoningEffort } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import { takes } from './extensions.ts';

type Thinking = NonNullable<Reasoning['thinking']>;

/**
 * The efforts of a model. `levels`: low, medium and high. `levels-or-none`: it can also stop thinking. `high-or-none`: only these two.
 * `fixed`: the model chooses its effort and refuses the field. `never`: it does not think and refuses the field.
 */
type EffortRange = 'levels' | 'levels-or-none' | 'high-or-none' | 'fixed' | 'never';

/**
 * The first row that fits counts (docs/protocols/openai-chat.md#effort-of-models). Names may have a publisher, a prefix of fine-tuned
 * models or an operator's words around them.
 */
const RANGES: readonly (readonly [RegExp, EffortRange])[] = [
  [/(?<![a-z0-9])(?:chatgpt-|gpt-?[34]|llama-)/i, 'never'],
  [/(?<![a-z0-9])gpt-?5-(?:chat|search)/i, 'never'],
  [/(?<![a-z0-9])(?:gpt-?5[\d.]*(?:-chat|-pro)|o1-(?:mini|preview))(?![a-z0-9])/i, 'fixed'],
  [/(?<![a-z0-9])gpt-?(?:5\.\d+|[6-9][\d.]*)(?!.*codex)(?![a-z0-9])/i, 'levels-or-none'],
  [/(?<![a-z0-9])mistral-(?:small-26|medium-3-5)/i, 'high-or-none'],
  [/(?<![a-z0-9])(?:o[1-9]|gpt-?5[\d.]*|gpt-oss|gemini)(?![a-z0-9])/i, 'levels'],
];

/** Undefined for an unknown model. */
const rangeOf = (model: string): EffortRange | undefined => RANGES.find(([name]) => name.test(model))?.[1];

const EFFORTS: Readonly<Record<EffortRange, readonly ReasoningEffort[] | undefined>> = {
  levels: ['medium', 'low', 'high'],
  'levels-or-none': ['medium', 'low', 'high', 'none'],
  'high-or-none': ['high', 'none'],
  fixed: undefined,
  never: undefined,
};

/** The efforts that the model takes, the one to begin with first; undefined where it takes none, or none is known. */
export function effortsOf(model: string): readonly ReasoningEffort[] | undefined {
  const range = rangeOf(model);
  return range && EFFORTS[range];
}

/** The effort for the caller's setting, and the loss. */
interface SentEffort {
  readonly effort?: ReasoningEffort;
  readonly loss?: Pick<Loss, 'action' | 'reason'>;
}

const LEVELS_ONLY: NonNullable<SentEffort['loss']> = {
  action: 'downgraded',
  reason: 'OpenAI chat knows only levels of effort: sent as reasoning_effort.',
};
const lost = (reason: string): SentEffort => ({ loss: { action: 'dropped', reason } });

/** A `thinking` setting as an effort, for servers that take `thinking` and for models that document efforts. */
export function effortForThinking(thinking: Thinking, target: RequestTarget): SentEffort {
  const range = takes(target, 'thinking') ? 'levels-or-none' : rangeOf(target.model);
  const amount = amountOf(thinking) ?? 'high';
  const effort = range === 'high-or-none' && amount !== 'none' ? 'high' : amount;
  if (range === undefined) return lost('This model is not known to have reasoning_effort.');
  if (effort === 'none') {
    if (range === 'levels-or-none' || range === 'high-or-none')
      return { effort, ...(thinking.type !== 'disabled' && { loss: LEVELS_ONLY }) };
    return range === 'never' ? {} : lost('This model cannot stop thinking.');
  }
  if (range === 'never') return lost('This model does not think.');
  return range === 'fixed' ? lost('This model has no reasoning_effort.') : { effort, loss: LEVELS_ONLY };
}

/** True for a model that is known to refuse `reasoning_effort`. */
export function refusesEffort(target: RequestTarget): boolean {
  const range = takes(target, 'thinking') ? undefined : rangeOf(target.model);
  return range === 'fixed' || range === 'never';
}

/** Undefined when the setting has no amount. */
export function amountOf({ type, budgetTokens }: Thinking): ReasoningEffort | undefined {
  if (type === 'disabled') return 'none';
  return budgetTokens === undefined ? undefined : effortOf(budgetTokens);
}

/** Thresholds between the efforts (docs/protocols/requests.md#budget-thresholds); a budget of 0 turns thinking off. */
function effortOf(budget: number): ReasoningEffort {
  if (budget <= 0) return 'none';
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
}
