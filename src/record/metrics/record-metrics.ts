import { CounterFamily, GaugeFamily, HistogramFamily } from './families.ts';
import { OTHER, type CallerLabels, type MetricSpec } from './metric-spec.ts';
import { METRICS, type MetricKey } from './metrics.ts';
import type { RecordedAttempt, RequestRecord } from '../record.ts';

/** The callers of requests as metric labels. */
export interface LabelledCallers {
  labelsOf(record: RequestRecord): CallerLabels;
}

/** The model names that are metric labels. */
export interface LabelledModels {
  /** Returns the label of a name that an upstream has answered with a 2xx, which may become a label now. */
  answered(model: string, keyId: string): string;
}

// Object.keys does not tell that these are the keys of the table.
const KEYS = Object.keys(METRICS) as readonly MetricKey[];
const OF_REQUEST = KEYS.filter((key) => 'ofRequest' in METRICS[key]);
const OF_ATTEMPT = KEYS.filter((key) => 'ofAttempt' in METRICS[key]);

/** Every metric counts what it counts of a record: see its row in the table. */
export function recordRequest(
  families: Families,
  record: RequestRecord,
  { models, callers }: { readonly models: LabelledModels; readonly callers: LabelledCallers },
): void {
  const caller = callers.labelsOf(record);
  for (const key of OF_REQUEST) families[key].countRequest(record, caller);
  for (const attempt of record.attempts) {
    const { place } = attempt;
    if (!place) continue;
    const isNew = place.modelLabel === OTHER && isAnswer(attempt);
    const labels = {
      provider: place.provider,
      request_model: isNew ? models.answered(place.model, record.keyId ?? '') : place.modelLabel,
      operation: record.semconvName ?? '',
    };
    for (const key of OF_ATTEMPT) families[key].countAttempt(attempt, labels, caller);
  }
}

const ANSWERED_FROM_CACHE: ReadonlySet<RecordedAttempt['cache']> = new Set(['hit', 'semantic_hit', 'shared']);

/**
 * Whether the upstream answered with a 2xx, even if the rest of its reply failed. A cached reply was such an answer.
 */
function isAnswer({ answered, cache, tries }: RecordedAttempt): boolean {
  const status = tries.at(-1)?.status ?? 0;
  return answered && (ANSWERED_FROM_CACHE.has(cache) || (status >= 200 && status < 300));
}

/** One series of a counter. */
interface CounterLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The counters that a record adds to. It is recorded into separate families that are never scraped. */
export function countersOf(
  record: RequestRecord,
  labelled: { readonly models: LabelledModels; readonly callers: LabelledCallers },
): readonly CounterLabels[] {
  const families = openFamilies();
  recordRequest(families, record, labelled);
  return Object.values(families).flatMap((family) =>
    family instanceof CounterFamily ? family.labelSets.map((labels) => ({ name: family.name, labels })) : [],
  );
}

// Separate from the registry that prints them, so that code that only counts, such as explain, does not load
// prom-client.

type LabelOf<K extends MetricKey> = (typeof METRICS)[K]['labels'][number];
type FamilyOf<K extends MetricKey> = {
  counter: CounterFamily<LabelOf<K>>;
  gauge: GaugeFamily<LabelOf<K>>;
  histogram: HistogramFamily<LabelOf<K>>;
}[(typeof METRICS)[K]['type']];
/** All metrics of requests, by their key. */
export type Families = { readonly [K in MetricKey]: FamilyOf<K> };

/**
 * Creates all families, empty.
 * @param now monotonic milliseconds. Default: time stands still, and every series stays
 */
export function openFamilies(now?: () => number): Families {
  let overflow: CounterFamily<'metric'> | undefined;
  const open = (spec: MetricSpec): CounterFamily<string> | GaugeFamily<string> | HistogramFamily<string> => {
    const onOverflow = (): void => overflow?.add({ metric: spec.name });
    if (spec.type === 'counter') return new CounterFamily(spec, onOverflow, now);
    if (spec.type === 'gauge') return new GaugeFamily(spec, onOverflow, now);
    return new HistogramFamily(spec, onOverflow, now);
  };
  // Each family has its spec's labels, which the type of fromEntries cannot express.
  const families = Object.fromEntries(
    Object.entries(METRICS).map(([key, spec]) => [key, open(spec)]),
  ) as unknown as Families;
  overflow = families.labelOverflow;
  return families;
}
