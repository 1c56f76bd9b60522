import type { Conversation, JsonObject, Reasoning, ReasoningEffort } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { encodeSchema, type SchemaReport } from './encode-tools.ts';
import { fitStops, limitsOf } from '../target-limits.ts';
import type { LossReport } from '../losses/losses.ts';
import type { ModelTraits, ThinkingControl, ThinkingLevel } from './models.ts';
import { toCamel } from '../json/field-names.ts';
import { compact } from '../json/object.ts';

const MAX_TOP_LOGPROBS = 20;

/** Encodes `generationConfig` (docs/protocols/gemini.md#generation-config). Fields not received are not sent. */
export function encodeConfig(
  conversation: Conversation,
  traits: ModelTraits,
  target: RequestTarget,
  report: SchemaReport,
): JsonObject {
  const { losses } = report;
  const { sampling, reasoning } = conversation;
  // Thoughts are requested only when the client may see them (docs/protocols/requests.md#visible-thoughts).
  const thinkingConfig = encodeThinking(reasoning, traits.thinking, !target.strict, losses);
  return compact({
    maxOutputTokens: conversation.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    candidateCount: sampling.n,
    seed: sampling.seed,
    stopSequences:
      sampling.stop?.length === 0 ? undefined : fitStops(sampling.stop, limitsOf('gemini', target), losses),
    ...encodePenalties(conversation, traits, losses),
    responseLogprobs: sampling.logprobs,
    logprobs: encodeTopLogprobs(sampling.topLogprobs, losses),
    ...encodeResponseFormat(conversation.responseFormat, report),
    ...encodeOutput(conversation, losses),
    imageConfig: conversation.imageConfig && camelKeys(conversation.imageConfig),
    thinkingConfig,
  });
}

function encodePenalties({ sampling }: Conversation, traits: ModelTraits, losses: LossReport): JsonObject {
  const { frequencyPenalty, presencePenalty } = sampling;
  if (traits.penalties) return { frequencyPenalty, presencePenalty };
  if (frequencyPenalty !== undefined) losses.dropped('frequency_penalty', 'this model refuses penalties');
  if (presencePenalty !== undefined) losses.dropped('presence_penalty', 'this model refuses penalties');
  return {};
}

/** Zero alternatives is the default, and the range of the field begins at 1 (docs/protocols/gemini.md#logprobs). */
function encodeTopLogprobs(count: number | undefined, losses: LossReport): number | undefined {
  if (count === 0) return undefined;
  if (count === undefined || count <= MAX_TOP_LOGPROBS) return count;
  losses.clamped('top_logprobs', `Gemini gives at most ${MAX_TOP_LOGPROBS} alternatives`);
  return MAX_TOP_LOGPROBS;
}

/** The format's `name` is a label without effect. Its description goes into the schema, which a model reads. */
function encodeResponseFormat(format: Conversation['responseFormat'], report: SchemaReport): JsonObject {
  if (!format || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  if (format.type === 'json_object' || !format.schema) return { responseMimeType };
  const schema = encodeSchema(format.schema, 'response_format.json_schema.schema', report);
  const described = schema && format.description !== undefined && schema['description'] === undefined;
  return { responseMimeType, responseJsonSchema: described ? { ...schema, description: format.description } : schema };
}

function encodeOutput({ modalities, audio }: Conversation, losses: LossReport): JsonObject {
  const requested = modalities?.map((modality) => modality.toUpperCase());
  if (!audio) return { responseModalities: requested };
  const { voice, format, ...others } = audio;
  for (const name of Object.keys(others)) losses.dropped(`audio.${name}`, 'Gemini has no such setting of its speech');
  // Google generates PCM only. A client that expects mp3 would play noise.
  if (format !== undefined && format !== 'pcm16') {
    throw new RequestFault('unsupported_parameter', 'Gemini answers in "pcm16" audio only.', 'audio.format');
  }
  if (voice !== undefined && typeof voice !== 'string') {
    throw new RequestFault('unsupported_parameter', 'Gemini has voices by name only.', 'audio.voice');
  }
  const speechConfig = voice === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  return {
    responseModalities: requested?.includes('AUDIO') ? requested : [...(requested ?? []), 'AUDIO'],
    speechConfig,
  };
}

function camelKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [toCamel(name), value]));
}

/** `thinkingConfig` (docs/protocols/gemini.md#thinking-config). Only one control: budget and level are a 400. */
function encodeThinking(
  reasoning: Reasoning | undefined,
  control: ThinkingControl | undefined,
  showThoughts: boolean,
  losses: LossReport,
): JsonObject | undefined {
  const requested = reasoning && requestedThinking(reasoning, losses);
  if (!requested)
    return reasoning?.summary && showThoughts && thinksUnasked(control) ? { includeThoughts: true } : undefined;
  if (!control) {
    // A model that cannot think already does what "off" requests.
    if (requested.amount !== 'off') losses.dropped(requested.param, 'this model has no thinking to control');
    return undefined;
  }
  const amount =
    control.by === 'budget' ? budgetFor(requested, control, losses) : levelFor(requested, control.levels, losses);
  const hidden = requested.amount === 'off' || !requested.visible;
  if (hidden || showThoughts) return { ...amount, includeThoughts: !hidden };
  return Object.keys(amount).length > 0 ? amount : undefined;
}

/** A wish for summaries turns no thinking on. */
const thinksUnasked = (control: ThinkingControl | undefined): boolean =>
  control !== undefined && (control.by === 'level' || !control.onRequest);

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
