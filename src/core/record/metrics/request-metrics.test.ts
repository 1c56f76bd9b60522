import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedAttempt, RecordedPlace, RequestRecord } from '../record.ts';
import { anyRecord } from '../records.testkit.ts';
import type { FamilySnapshot, SampleSnapshot } from './aggregate.ts';
import { CallersAsLabels } from './caller-labels.ts';
import { MAX_LABEL_SETS, SERIES_IDLE_MS } from './families.ts';
import { openFamilies, type Families } from './metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { countByTable } from './request-metrics.testkit.ts';
import { runs } from '../../../../test/support/effort.ts';

const team = { key: 'team', name: 'metadata_team', known: new Set<string>() };

/** Two of these differ only in the code that counts: the generated one, which remembers series, or that of the table. */
function open(isGenerated: boolean) {
  let now = 0;
  const families = openFamilies(() => now);
  const callers = new CallersAsLabels();
  callers.apply([team]);
  const sources = { models: { answered: (model: string) => model }, callers };
  const kept = new RequestMetrics(families, sources);
  return {
    families,
    wait: (ms: number) => (now += ms),
    /** The message of the error, if it cannot be counted. */
    count(record: RequestRecord): string | undefined {
      try {
        if (isGenerated) kept.count(record);
        else countByTable(families, record, sources);
      } catch (error) {
        return String(error);
      }
      return undefined;
    },
    /** All samples, as a scrape has them, without those of `fill`. */
    async read() {
      const all = (await Promise.all(Object.values(families).map((family) => family.get()))) as FamilySnapshot[];
      const isFiller = ({ labels: { route, provider } }: SampleSnapshot): boolean =>
        `${route ?? provider}`.startsWith('filler');
      return all.map(({ values, retired, ...family }) => ({
        ...family,
        values: values.filter((sample) => !isFiller(sample)),
        retired: retired?.filter((sample) => !isFiller(sample)),
      }));
    },
  };
}

/** Takes all places of label sets but `room`, and all of one caller. */
function fill({ requestDuration, upstreamDuration, tokens }: Families, room: number): void {
  const greedy = { key: 'greedy', labels: { key_id: 'greedy' } };
  for (let index = 0; index < MAX_LABEL_SETS - room; index += 1) {
    const model = {
      provider: `filler${index}`,
      request_model: '',
      operation: '',
    };
    requestDuration.add({ route: `filler${index}`, status_class: '', stream: '' }, 1);
    upstreamDuration.add({ ...model, outcome: '' }, 1);
    tokens.add({ ...model, type: '' }, 1, greedy);
  }
}

type Change = (record: RequestRecord) => RequestRecord;

const inAttempts =
  (change: (attempt: RecordedAttempt) => RecordedAttempt): Change =>
  (record) => ({ ...record, attempts: record.attempts.map(change) });
const inPlace = (changed: Partial<RecordedPlace>): Change =>
  inAttempts((one) => ({
    ...one,
    place: one.place && { ...one.place, ...changed },
  }));

/** Changes of one field that decides series, or to a value that no metric takes. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .oneof(
      fc.record({
        route: fc.constantFrom(undefined, '/v1/chat/completions', '/v1/messages'),
      }),
      fc.record({ outcomeStatus: fc.constantFrom(200, 201, 404, 503) }),
      fc.record({ stream: fc.boolean() }),
      fc.record({ cache: fc.constantFrom(undefined, 'hit', 'miss') }),
      fc.record({ rejection: fc.constantFrom(undefined, 'auth', 'schema') }),
      fc.record({
        disconnectStage: fc.constantFrom(undefined, 'queued', 'waiting'),
      }),
      fc.record({ keyId: fc.constantFrom(undefined, 'team-search', 'greedy') }),
      fc.record({
        metadata: fc.constantFrom(undefined, { team: 'search' }, { team: 'ads' }),
      }),
      fc.record({
        semconvName: fc.constantFrom(undefined, 'chat', 'embeddings'),
      }),
      fc.record({ overheadMs: fc.constantFrom(1, 1, NaN) }),
    )
    .map((changed): Change => (record) => ({
      ...record,
      ...(changed as Partial<RequestRecord>),
    })),
  fc
    .oneof(
      fc.record({ outcome: fc.constantFrom('success', 'error', 'aborted') }),
      fc.record({ errorType: fc.constantFrom('', 'overloaded', 'quota') }),
      fc.record({ substitution: fc.constantFrom(undefined, 'model', 'tier') }),
      fc.record({
        cost: fc.constantFrom(
          undefined,
          { nano: 5, unknown: undefined, source: 'reported', saved: undefined },
          { nano: 7, unknown: undefined, source: 'estimated', saved: undefined },
          { nano: undefined, unknown: 'model', source: 'reported', saved: undefined },
          { nano: undefined, unknown: 'tier', source: 'reported', saved: undefined },
        ),
      }),
      fc.record({
        usage: fc.constantFrom(undefined, { input: 1, output: 2, total: 3 }, { input: -1, output: 1, total: 0 }),
      }),
    )
    .map((changed) =>
      inAttempts((one) => ({
        ...one,
        ...(changed as Partial<RecordedAttempt>),
      })),
    ),
  fc.constantFrom('openai', 'claude').map((provider) => inPlace({ provider })),
  fc.constantFrom('gpt-5', '__other__').map((modelLabel) => inPlace({ modelLabel })),
);

type Step = { readonly change: Change } | { readonly waited: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: change.map((one) => ({ change: one })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, SERIES_IDLE_MS).map((waited) => ({ waited })),
  },
);

const changes = fc.array(
  change.map((one): Step => ({ change: one })),
  { minLength: 3, maxLength: 12 },
);

/** Each record is counted twice, because the second time finds what the first one has remembered. */
async function compare(first: RequestRecord, steps: readonly Step[], room?: number): Promise<void> {
  const [fast, plain] = [open(true), open(false)];
  let record = first;
  if (room !== undefined) for (const { families } of [fast, plain]) fill(families, room);
  for (const one of steps) {
    if ('change' in one) {
      record = one.change(record);
      for (let time = 0; time < 2; time += 1) expect(fast.count(record)).toBe(plain.count(record));
    } else {
      for (const { wait } of [fast, plain]) wait(one.waited);
      expect(await fast.read()).toEqual(await plain.read());
    }
  }
  expect(await fast.read()).toEqual(await plain.read());
}

describe('the metrics of requests', () => {
  it('are those of the table, whose series are found anew each time: with series that retire and impossible values', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecord, fc.array(step, { maxLength: 25 }), (first, steps) => compare(first, steps)),
      { numRuns: runs(100) },
    );
  });

  it('are those of the table, whose series are found anew each time: when metrics have no place for more', async () => {
    // The places of all series that were filled are free again after two waits.
    const free = [{ waited: SERIES_IDLE_MS }, { waited: SERIES_IDLE_MS }];
    await fc.assert(
      fc.asyncProperty(anyRecord, changes, changes, fc.nat(3), (first, before, after, room) =>
        compare(first, [...before, ...free, ...after], room),
      ),
      { numRuns: 3 },
    );
  });

  it('find no series and build no labels for a request like an earlier one', () => {
    const { families, count } = open(true);
    const [{ attempts, ...rest }] = fc.sample(
      anyRecord.filter(({ attempts }) => attempts.length > 0),
      1,
    ) as [RequestRecord];
    const ordinary = {
      ...rest,
      alias: undefined,
      prompt: undefined,
      attempts: attempts.slice(0, 1).map((one) => ({
        ...one,
        losses: [],
        substitution: undefined,
        lostCosts: [],
        tries: [],
        semantic: undefined,
        cache: undefined,
      })),
    };
    count(ordinary);
    let found = 0;
    for (const family of Object.values(families)) {
      const { add } = family;
      family.add = (...args: never[]) => {
        found += 1;
        Reflect.apply(add, family, args);
      };
    }
    count(ordinary);
    expect(found).toBe(0);
  });
});
