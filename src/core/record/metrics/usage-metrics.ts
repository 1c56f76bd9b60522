import type { RecordedSemantic } from '../record.ts';
import { metric, MODEL_LABELS, modelOf, TOKEN_BUCKETS, type AttemptLabels, type UsageMeasure } from './metric-spec.ts';

const usedOf = (type: string, value: UsageMeasure['value']): UsageMeasure<keyof AttemptLabels | 'type'> => ({
  labels: (attempt) => ({ ...modelOf(attempt), type }),
  value,
});

export const vectorsOf = ({ provider, modelLabel }: Vectors): AttemptLabels => ({
  provider,
  request_model: modelLabel,
  operation: 'embeddings',
});

type Vectors = NonNullable<RecordedSemantic['embedding']>;

const INPUT = usedOf('input', 'input');
const OUTPUT = usedOf('output', 'output');

export const USAGE_METRICS = {
  // Callers pay for tokens. A failed attempt gave no answer, so it counts no tokens; its record has them.
  tokens: metric({
    name: 'gatehouse_tokens_total',
    help: 'Tokens of the attempts that answered, as their upstreams report them; of an interrupted reply, those reported until then. Failed attempts count none. Calls for vectors of a semantic cache count with operation="embeddings" and their own provider and model. input includes cache_read and cache_write, output includes reasoning: do not add those three.',
    labels: [...MODEL_LABELS, 'type'],
    byCaller: true,
    countAttempt: ({ semantic }, _, note) => {
      const call = semantic?.embedding;
      if (call?.tokens !== undefined) note({ ...vectorsOf(call), type: 'input' }, call.tokens);
    },
    ofTokens: [
      INPUT,
      OUTPUT,
      usedOf('cache_read', 'cacheRead'),
      usedOf('cache_write', 'cacheWrite'),
      usedOf('reasoning', 'reasoning'),
    ],
  }),
  doubted: metric({
    name: 'gatehouse_usage_doubted_total',
    help: 'Attempts whose upstream reports a usage that cannot be true: numbers below 0 or beyond the limits of the model, parts above their whole. The reserve counts in its place, or an estimate by bytes; `tokens_claimed` of the record has the reported counts.',
    labels: MODEL_LABELS,
    ofAttempt: { labels: modelOf, counts: 'claimedUsage' },
  }),
  audioSeconds: metric({
    name: 'gatehouse_audio_seconds_total',
    help: 'Seconds of sound of the attempts that answered, where the upstream reports seconds and no tokens (transcriptions).',
    labels: MODEL_LABELS,
    byCaller: true,
    ofAttempt: { labels: modelOf, value: ({ answered, usage }) => (answered ? usage?.seconds : undefined) },
  }),
  units: metric({
    name: 'gatehouse_usage_units_total',
    help: 'What the attempts that answered used besides tokens, by type: image (pictures made), search (searches in the web that the provider made), file_search (in stored files), map_search (answers with maps), container (for code of the model).',
    labels: [...MODEL_LABELS, 'type'],
    byCaller: true,
    ofUsage: [
      usedOf('image', 'images'),
      usedOf('search', 'searches'),
      usedOf('file_search', 'fileSearches'),
      usedOf('map_search', 'mapSearches'),
      usedOf('container', 'containers'),
    ],
  }),
  cost: metric({
    name: 'gatehouse_cost_nano_usd_total',
    help: 'Cost of attempts in nano-USD (divide by 1e9), lost ones and earlier tries included, by source: reported (by what the upstream counted), estimated (of interrupted replies, and of upstreams that count nothing). Calls for vectors of a semantic cache count with operation="embeddings" and their own provider and model. Replies of the cache cost nothing. An unknown cost is not counted here but in gatehouse_cost_unknown_total.',
    labels: [...MODEL_LABELS, 'source'],
    byCaller: true,
    countAttempt: ({ lostCosts, semantic }, labels, note) => {
      for (const { nano, source } of lostCosts) if (nano !== undefined) note({ ...modelOf(labels), source }, nano);
      const call = semantic?.embedding;
      if (call?.cost?.nano !== undefined) note({ ...vectorsOf(call), source: call.cost.source }, call.cost.nano);
    },
    ofAttempt: {
      labels: (attempt) => ({ ...modelOf(attempt), source: attempt.costSource ?? '' }),
      value: ({ cost }) => (cost?.source === 'cache' ? undefined : cost?.nano),
    },
  }),
  costUnknown: metric({
    name: 'gatehouse_cost_unknown_total',
    help: 'Attempts, earlier tries and calls for vectors whose cost is unknown, by reason: model (no price of it is known), date (none for the day), tier (none in the service tier), kind (none for a kind of what was used), usage (the upstream does not say what was used).',
    labels: [...MODEL_LABELS, 'reason'],
    byCaller: true,
    countAttempt: ({ lostCosts, semantic }, labels, note) => {
      for (const { unknown } of lostCosts) if (unknown) note({ ...modelOf(labels), reason: unknown });
      const call = semantic?.embedding;
      if (call?.cost?.unknown) note({ ...vectorsOf(call), reason: call.cost.unknown });
    },
    ofAttempt: {
      labels: (attempt) => ({ ...modelOf(attempt), reason: attempt.costUnknown ?? '' }),
      value: ({ cost }) => (cost?.unknown === undefined ? undefined : 1),
    },
  }),
  answeredByOther: metric({
    name: 'gatehouse_answered_by_other_total',
    help: 'Attempts that another model or service tier has answered than the request names, by what differs: model (beyond the version of its name), tier, model_and_tier. Their cost is that of what answered.',
    labels: [...MODEL_LABELS, 'what'],
    ofAttempt: {
      labels: (attempt) => ({ ...modelOf(attempt), what: attempt.substitution ?? '' }),
      counts: 'substitution',
    },
  }),
  costSaved: metric({
    name: 'gatehouse_cache_saved_nano_usd_total',
    help: 'What the replies of the cache would have cost, in nano-USD (divide by 1e9).',
    labels: MODEL_LABELS,
    byCaller: true,
    ofAttempt: { labels: modelOf, value: ({ cost }) => cost?.saved },
  }),
  requestTokens: metric({
    name: 'gatehouse_request_tokens',
    help: 'Tokens of one generation whose reply was sent, by type: input, output.',
    labels: [...MODEL_LABELS, 'type'],
    buckets: TOKEN_BUCKETS,
    ofTokens: [INPUT, OUTPUT],
  }),
};
