import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TestAnswer } from '../../../../schemas/types.generated.ts';
import type { KeptClientRequest } from '../../../core/process/record-case-port.ts';
import type { InForce } from '../../../core/process/reload.ts';
import { boundRecord } from '../../../core/record/bounded-record.ts';
import { recordJson } from '../../../core/record/json.ts';
import type { RecordJson } from '../../../core/record/record-query.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { RecordedFiles } from '../../../core/settings/source/recorded-files.ts';
import { caseOf as testCase, ENTRIES, TARGETS, type CaseParts } from '../run.testkit.ts';
import { runCase, type RunnerSetup } from '../runner.ts';
import { caseOfRecord } from './case-of-record.ts';

const KEYS = { keys: [{ id: 'team', key: '${env:TEAM_KEY}', metadata: { team: 'search' } }] };

async function inForceWith(
  config: object,
  server: object = {},
): Promise<InForce & { loaded: Awaited<ReturnType<typeof loadSettings>> }> {
  const texts = {
    'configs/server.yaml': JSON.stringify(server),
    'configs/catalog.yaml': JSON.stringify({ providers: ENTRIES }),
    'configs/keys.yaml': JSON.stringify(KEYS),
    'configs/gateway/prod.yaml': JSON.stringify(config),
  };
  const files = new RecordedFiles(memoryFiles(texts));
  const loaded = await loadSettings('configs', { env: {}, files, fakeMissing: true });
  if (!loaded.settings) throw new Error(JSON.stringify(loaded.diagnostics));
  return { loaded, settings: loaded.settings, files, warnings: [], objects: [], modules: new Map() };
}

/** A case ends within 5 s of real time, which a busy machine may not have for it. */
const isLate = (texts: readonly string[]): boolean => texts.some((text) => text.includes('s of real time'));
const MOST_RUNS = 10;

/** The record that a gateway keeps of a request that it serves. */
async function served(
  config: object,
  parts: CaseParts,
): Promise<{ inForce: InForce; record: RecordJson; body: unknown }> {
  const inForce = await inForceWith(config);
  const asked = testCase({ key: 'team', ...parts });
  for (let run = 1; ; run += 1) {
    const records: RecordJson[] = [];
    const onRun: RunnerSetup['onRun'] = ({ record }) => records.push(recordJson(boundRecord(record)));
    const outcomes = await runCase({ configs: 'configs', env: {}, loaded: inForce.loaded, onRun }, asked);
    const faults = outcomes.flatMap((outcome) => outcome.faults);
    if (isLate(faults) && run < MOST_RUNS) continue;
    const record = records.at(-1);
    if (!record) throw new Error(`no request ended: ${faults.join('; ')}`);
    return { inForce, record, body: asked.request.body };
  }
}

async function caseFor(config: object, parts: CaseParts, kept?: Partial<KeptClientRequest>) {
  const { inForce, record, body } = await served(config, parts);
  const client = kept && {
    method: parts.method ?? 'POST',
    path: parts.path ?? '/v1/chat/completions',
    headers: { 'x-gateway-config': 'prod', ...parts.headers },
    body: JSON.stringify(body),
    draws: parts.draws ?? [],
    ...kept,
  };
  for (let run = 1; ; run += 1) {
    const made = await caseOfRecord({ record, kept: client, inForce, folder: 'configs' });
    if (!isLate(made.notes) || run === MOST_RUNS) return { record, made };
  }
}

const FALLBACK = { strategy: { mode: 'fallback' }, targets: [TARGETS.openai, TARGETS.claude, TARGETS.vertex] };

it('A rescued request becomes a case with an answer for each try, its targets and its status', async () => {
  const { made } = await caseFor(FALLBACK, {
    key: 'team',
    headers: { 'x-gateway-metadata': '{"tier":"free"}' },
    upstream: [{ status: 429 }, { answer: 'Hello' }],
  });
  expect(made).toMatchObject({ file: 'gateway/prod.test.yaml', passes: true });
  expect(made.text).toMatchInlineSnapshot(`
    "cases:
      - name: is rescued by config.targets[1] (00000000-0000-7000-8000-000000000001)
        config: prod
        key: team
        headers:
          x-gateway-metadata: '{"tier":"free"}'
        request:
          body:
            model: gpt-4o
            messages:
              - role: user
                content: "[text]"
        at: 2026-01-01T00:00:00.000Z
        upstream:
          - status: 429
            body:
              error:
                message: The test upstream answers 429.
                type: rate_limit_error
                param: null
                code: rate_limit_exceeded
          - answer: "[text]"
        expect:
          attempts:
            - config.targets[0]
            - config.targets[1]
          status: 200
    "
  `);
});

it.each<[string, object, CaseParts]>([
  ['a target that never answers', FALLBACK, { upstream: [{ fault: 'hang' }, { answer: 'Hi' }] }],
  ['a refused connection', FALLBACK, { upstream: [{ fault: 'refuse' }, { answer: 'Hi' }] }],
  ['a web page in place of a reply', FALLBACK, { upstream: [{ fault: 'garbage' }, { answer: 'Hi' }] }],
  ['a stream that breaks', FALLBACK, { body: { stream: true }, upstream: [{ answer: 'Hi you', fault: 'cut' }] }],
  [
    'a retry',
    { ...TARGETS.openai, retry: { attempts: 3 } },
    { upstream: [{ status: 503 }, { status: 503 }, { answer: 'Hi' }] },
  ],
  ['a failure everywhere', FALLBACK, { upstream: [{ status: 500 }, { status: 503 }, { status: 500 }] }],
  ['a request that its first target calls invalid', FALLBACK, { upstream: [{ status: 400 }] }],
  [
    'Messages',
    FALLBACK,
    {
      path: '/v1/messages',
      body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
      upstream: [{ status: 429 }, { answer: 'Hi' }],
    },
  ],
  [
    'Responses, streamed',
    FALLBACK,
    { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true }, upstream: [{ answer: 'Hi' }] },
  ],
  [
    'Gemini',
    FALLBACK,
    {
      path: '/v1beta/models/m:generateContent',
      body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
      upstream: [{ status: 429 }, { answer: 'Hi' }],
    },
  ],
  [
    'embeddings',
    TARGETS.openai,
    { path: '/v1/embeddings', body: { model: 'm', input: 'Hi' }, upstream: [{ answer: 'Hi' }] },
  ],
])('A record of %s becomes a case that passes, with and without its body', async (_, config, parts) => {
  for (const kept of [undefined, {}]) {
    const { made } = await caseFor(config, parts, kept);
    expect({ passes: made.passes, notes: made.notes }).toEqual({
      passes: true,
      notes: kept ? [] : [expect.stringContaining('was not kept')],
    });
  }
});

it('A reply from the cache becomes two requests, of which the first fills the cache', async () => {
  const config = { ...TARGETS.openai, cache: { mode: 'simple', max_age: '60s' } };
  const { record, made } = await caseFor(config, {
    upstream: [{ answer: 'Hi' }],
    next: [{ expect: {} }],
  });
  expect(record.attempts).toMatchObject([{ cache: 'hit' }]);
  expect(made).toMatchObject({
    passes: true,
    text: expect.stringMatching(/is answered by @openai \([^]*x-gateway-cache-status: HIT/),
  });
});

it('A condition that was true for the request is true for the case, without the body', async () => {
  const config = {
    strategy: {
      mode: 'conditional',
      // oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
      conditions: [{ query: { 'metadata.tier': 'gold', 'params.temperature': { $gt: 1 } }, then: 'second' }],
      default: 'first',
    },
    targets: [
      { name: 'first', ...TARGETS.openai },
      { name: 'second', ...TARGETS.claude },
    ],
  };
  const { record, made } = await caseFor(config, {
    headers: { 'x-gateway-metadata': '{"tier":"gold"}' },
    body: { temperature: 1.5 },
    upstream: [{ answer: 'Hi' }],
  });
  expect(record.attempts).toMatchObject([{ target: 'config.targets[1]' }]);
  expect(made.passes).toBe(true);
});

it('A record of a target that was skipped for its breaker says that a case cannot have it so', async () => {
  const { inForce, record } = await served(FALLBACK, { upstream: [{ answer: 'Hi' }] });
  const skipped = {
    ...record,
    skipped: [{ target: 'config.targets[0]', reason: 'circuit_open', after: 0 }],
    attempts: [{ ...record.attempts![0], target: 'config.targets[1]' }],
  };
  const made = await caseOfRecord({ record: skipped, kept: undefined, inForce, folder: 'configs' });
  expect(made.passes).toBe(false);
  expect(made.notes).toContain('config.targets[0] was skipped because of its breaker; a case begins with closed ones');
});

const NAMES = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
const leaf = fc.constantFrom(...NAMES).map((name) => ({ ...TARGETS[name] }));
const weighted = (target: fc.Arbitrary<object>) =>
  fc.record({ target, weight: fc.integer({ min: 1, max: 9 }) }).map(({ target: one, weight }) => ({ ...one, weight }));
const groupOf = (target: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.oneof(
    fc.array(target, { minLength: 2, maxLength: 3 }).map((targets) => ({ strategy: { mode: 'fallback' }, targets })),
    fc
      .array(weighted(target), { minLength: 2, maxLength: 3 })
      .map((targets) => ({ strategy: { mode: 'loadbalance' }, targets })),
  );
const configs = groupOf(fc.oneof(leaf, groupOf(leaf)));

const answers: fc.Arbitrary<TestAnswer> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)
      .map((status) => ({ status })),
  },
  fc.constantFrom('refuse', 'reset', 'hang', 'garbage').map((fault) => ({ fault })),
  { weight: 3, arbitrary: fc.constant({ answer: 'Hello there' }) },
);

it('Records of random settings and scripted upstreams become cases that pass', { timeout: 600_000 }, async () => {
  const parts = fc.record({
    upstream: fc.array(answers, { minLength: 1, maxLength: 4 }),
    draws: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 4 }),
    stream: fc.boolean(),
    isKept: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(configs, parts, async (config, { upstream, draws, stream, isKept }) => {
      // The last answer is one that no target follows, so that each call has one.
      const script = [...upstream, ...Array.from({ length: 9 }, () => ({ answer: 'Hello' }))];
      const { record, made } = await caseFor(
        config,
        { upstream: script, draws, body: { stream } },
        isKept ? {} : undefined,
      );
      expect({ passes: made.passes, notes: made.notes, record }).toMatchObject({ passes: true });
    }),
    { numRuns: 60 },
  );
});
