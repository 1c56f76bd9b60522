import type { Usage } from '../../../formats/events.ts';
import type { RecordedAttempt, RecordedSemantic } from '../record.ts';
import { UNKNOWN_COSTS } from '../../../addons/budgets/record/recorded-cost.ts';
import { SUBSTITUTIONS, type Substitution } from '../substitution.ts';
import {
  countedPerAttempt,
  MODEL_LABELS,
  modelOf,
  perAttempt,
  TOKEN_BUCKETS,
  type AttemptLabels,
  type AttemptSeries,
  type Measure,
} from './metric-spec.ts';

/** Callers pay for tokens. A failed attempt gave no answer, so it counts no tokens; its record has them. */
const paidUsage = ({ answered, usage }: RecordedAttempt): Usage | undefined => (answered ? usage : undefined);

/** False for a model that counts seconds or pictures, and no tokens. */
const isInTokens = ({ seconds, images, total }: Usage): boolean => seconds === undefined && (!images || total > 0);

type ByType = Measure<AttemptSeries, RecordedAttempt, keyof AttemptLabels | 'type'>;

/** What an attempt used of one type. */
const usedOf = (type: string, countOf: (usage: Usage) => number | undefined): ByType => ({
  labels: (attempt) => ({ ...modelOf(attempt), type }),
  value: (attempt) => {
    const usage = paidUsage(attempt);
    return usage && countOf(usage);
  },
});

/** Tokens of one type. */
const tokensOf = (type: string, countOf: (usage: Usage) => number | undefined): ByType =>
  usedOf(type, (usage) => (isInTokens(usage) ? countOf(usage) : undefined));

/** What is counted by the piece. */
const unitsOf = (type: string, countOf: (usage: Usage) => number | undefined): ByType =>
  usedOf(type, (usage) => countOf(usage) || undefined);

/** A call for vectors. */
const vectorsOf = ({ provider, modelLabel }: Vectors): AttemptLabels => ({
  provider,
  request_model: modelLabel,
  operation: 'embeddings',
});

type Vectors = NonNullable<RecordedSemantic['embedding']>;

/** Cost by one source. */
const costBy = (
  source: 'reported' | 'estimated',
): Measure<AttemptSeries, RecordedAttempt, keyof AttemptLabels | 'source'> => ({
  labels: (attempt) => ({ ...modelOf(attempt), source }),
  value: ({ cost }) => (cost?.source === source ? cost.nano : undefined),
});

/** Attempts whose cost is unknown, by one reason. */
const unknownBy = (
  reason: (typeof UNKNOWN_COSTS)[number],
): Measure<AttemptSeries, RecordedAttempt, keyof AttemptLabels | 'reason'> => ({
  labels: (attempt) => ({ ...modelOf(attempt), reason }),
  value: ({ cost }) => (cost?.unknown === reason ? 1 : undefined),
});

/** Attempts that another model or tier answered. */
const substitutedBy = (what: Substitution): Measure<AttemptSeries, RecordedAttempt, keyof AttemptLabels | 'what'> => ({
  labels: (attempt) => ({ ...modelOf(attempt), what }),
  value: ({ substitution }) => (substitution === what ? 1 : undefined),
});

const INPUT = tokensOf('input', ({ input }) => input);
const OUTPUT = tokensOf('output', ({ output }) => output);

/** Metrics of what attempts used, and what that cost. */
export const USAGE_METRICS = {
  tokens: countedPerAttempt(
    {
      type: 'counter',
      name: 'gatehouse_tokens_total',
      help: 'Tokens of the attempts that answered, as their upstreams report them; of an interrupted reply, those reported until then. Failed attempts count none. Calls for vectors of a semantic cache count with operation="embeddings" and their own provider and model. input includes cache_read and cache_write, output includes reasoning: do not add those three.',
      labels: [...MODEL_LABELS, 'type'],
      byCaller: true,
    },
    ({ semantic }, _, note) => {
      const call = semantic?.embedding;
      if (call?.tokens !== undefined) note({ ...vectorsOf(call), type: 'input' }, call.tokens);
    },
    INPUT,
    OUTPUT,
    tokensOf('cache_read', ({ cacheRead }) => cacheRead),
    tokensOf('cache_write', ({ cacheWrite }) => cacheWrite),
    tokensOf('reasoning', ({ reasoning }) => reasoning),
  ),
  doubted: perAttempt(
    {
      type: 'counter',
      name: 'gatehouse_usage_doubted_total',
      help: 'Attempts whose upstream reports a usage that cannot be true: numbers below 0 or beyond the limits of the model, parts above their whole. The reserve counts in its place, or an estimate by bytes; `tokens_claimed` of the record has the reported counts.',
      labels: MODEL_LABELS,
    },
    { labels: modelOf, value: ({ claimedUsage }) => (claimedUsage ? 1 : undefined) },
  ),
  audioSeconds: perAttempt(
    {
      type: 'counter',
      name: 'gatehouse_audio_seconds_total',
      help: 'Seconds of sound of the attempts that answered, where the upstream reports seconds and no tokens (transcriptions).',
      labels: MODEL_LABELS,
      byCaller: true,
    },
    { labels: modelOf, value: (attempt) => paidUsage(attempt)?.seconds },
  ),
  units: perAttempt(
    {
      type: 'counter',
      name: 'gatehouse_usage_units_total',
      help: 'What the attempts that answered used besides tokens, by type: image (pictures made), search (searches in the web that the provider made), file_search (in stored files), map_search (answers with maps), container (for code of the model).',
      labels: [...MODEL_LABELS, 'type'],
      byCaller: true,
    },
    unitsOf('image', ({ images }) => images),
    unitsOf('search', ({ searches }) => searches),
    unitsOf('file_search', ({ fileSearches }) => fileSearches),
    unitsOf('map_search', ({ mapSearches }) => mapSearches),
    unitsOf('container', ({ containers }) => containers),
  ),
  cost: countedPerAttempt(
    {
      type: 'counter',
      name: 'gatehouse_cost_nano_usd_total',
      help: 'Cost of attempts in nano-USD (divide by 1e9), lost ones and earlier tries included, by source: reported (by what the upstream counted), estimated (of interrupted replies, and of upstreams that count nothing). Calls for vectors of a semantic cache count with operation="embeddings" and their own provider and model. Replies of the cache cost nothing. An unknown cost is not counted here but in gatehouse_cost_unknown_total.',
      labels: [...MODEL_LABELS, 'source'],
      byCaller: true,
    },
    ({ lostCosts, semantic }, labels, note) => {
      for (const { nano, source } of lostCosts) if (nano !== undefined) note({ ...modelOf(labels), source }, nano);
      const call = semantic?.embedding;
      if (call?.cost?.nano !== undefined) note({ ...vectorsOf(call), source: call.cost.source }, call.cost.nano);
    },
    costBy('reported'),
    costBy('estimated'),
  ),
  costUnknown: countedPerAttempt(
    {
      type: 'counter',
      name: 'gatehouse_cost_unknown_total',
      help: 'Attempts, earlier tries and calls for vectors whose cost is unknown, by reason: model (no price of it is known), date (none for the day), tier (none in the service tier), kind (none for a kind of what was used), usage (the upstream does not say what was used).',
      labels: [...MODEL_LABELS, 'reason'],
      byCaller: true,
    },
    ({ lostCosts, semantic }, labels, note) => {
      for (const { unknown } of lostCosts) if (unknown) note({ ...modelOf(labels), reason: unknown });
      const call = semantic?.embedding;
      if (call?.cost?.unknown) note({ ...vectorsOf(call), reason: call.cost.unknown });
    },
    ...UNKNOWN_COSTS.map(unknownBy),
  ),
  answeredByOther: perAttempt(
    {
      type: 'counter',
      name: 'gatehouse_answered_by_other_total',
      help: 'Attempts that another model or service tier has answered than the request names, by what differs: model (beyond the version of its name), tier, model_and_tier. Their cost is that of what answered.',
      labels: [...MODEL_LABELS, 'what'],
    },
    ...SUBSTITUTIONS.map(substitutedBy),
  ),
  costSaved: perAttempt(
    {
      type: 'counter',
      name: 'gatehouse_cache_saved_nano_usd_total',
      help: 'What the replies of the cache would have cost, in nano-USD (divide by 1e9).',
      labels: MODEL_LABELS,
      byCaller: true,
    },
    { labels: modelOf, value: ({ cost }) => cost?.saved },
  ),
  requestTokens: perAttempt(
    {
      type: 'histogram',
      name: 'gatehouse_request_tokens',
      help: 'Tokens of one generation whose reply was sent, by type: input, output.',
      labels: [...MODEL_LABELS, 'type'],
      buckets: TOKEN_BUCKETS,
    },
    INPUT,
    OUTPUT,
  ),
} as const;
