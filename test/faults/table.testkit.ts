import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneInFour } from '../support/effort.ts';
import { expectAgreement } from './kit/agree.ts';
import type { Api, Received } from './kit/client.ts';
import { blocked, FALLBACK, PRIMARY } from './kit/deeds.ts';
import { DIALECT_NAMES, DIALECTS, type Answer, type DialectName } from './kit/dialects.ts';
import { startRig, type Rig, type Seen } from './kit/rig.ts';
import { configFor, configId, FALLBACK_OF, SETUP_NAMES, type Form, type Row, type Setup } from './scenarios.ts';

export interface Scenario {
  readonly row: Row;
  readonly dialect: DialectName;
  readonly form: Form;
  readonly api: Api;
  readonly setup: Setup;
}

/**
 * Every setup with clients of chat completions; the others see the richest one, and what becomes of a stream that has begun. The dialects
 * that came later, and an array in place of events, have no say in the choice of a target, so that they are tried where their code differs.
 */
const callsOf = (row: Row, dialect: DialectName): readonly (readonly [Api, readonly Setup[]])[] => {
  const richest: readonly Setup[] = row.outcome.both.end === 'broken' ? ['both', 'complete'] : ['both'];
  if (dialect === 'responses')
    return [
      ['chat', richest],
      ['responses', richest],
    ];
  return [
    ['chat', SETUP_NAMES],
    ['messages', richest],
    ['responses', richest],
    ['gemini', richest],
    ...(dialect === 'anthropic' ? [] : ([['gemini_array', richest]] as const)),
  ];
};

const scenariosOf = (row: Row): Scenario[] =>
  (row.dialects ?? DIALECT_NAMES).flatMap((dialect) =>
    (row.forms ?? (['plain', 'stream'] as const)).flatMap((form) =>
      callsOf(row, dialect)
        // An array is a form of stream.
        .filter(([api]) => form === 'stream' || api !== 'gemini_array')
        .flatMap(([api, setups]) =>
          setups
            // What holds a stream back means nothing to a plain reply.
            .filter((setup) => form === 'stream' || setup !== 'complete')
            .map((setup) => ({ row, dialect, form, api, setup })),
        ),
    ),
  );

const configsOf = (rows: readonly Row[]): Record<string, object> =>
  Object.fromEntries(
    rows.flatMap((row) =>
      DIALECT_NAMES.flatMap((dialect) =>
        SETUP_NAMES.map((setup) => [configId(dialect, setup, row), configFor(dialect, setup, row)]),
      ),
    ),
  );

/** One test for every fault, dialect, form, client and setup; in `npm test` for a quarter of them. */
export function describeTable(rows: readonly Row[]): void {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(configsOf(rows));
  });
  afterAll(() => rig.close());

  describe.each(rows.map((row, number) => [row.fault, row, number] as const))('%s', (_, row, number) => {
    const scenarios = oneInFour('faults', number, scenariosOf(row));
    it.each(scenarios.map((one) => [`${one.dialect}, ${one.form}, ${one.api}, ${one.setup}`, one] as const))(
      '%s',
      async (_name, scenario) => {
        rig.primary.does(row.deed);
        const { api, form, dialect, setup } = scenario;
        const config = configId(dialect, setup, row);
        const seen = await rig.ask({ api, stream: form === 'stream', config, held: setup === 'complete' });
        expectAgreement(seen);
        expectOutcome(scenario, seen);
      },
    );
  });
}

function expectOutcome(scenario: Scenario, seen: Seen): void {
  const { row, setup } = scenario;
  const { end, tries } = row.outcome[setup];
  const { record, received, primary } = seen;
  const [first] = record.attempts;
  expect(first?.tries.length, 'tries at the primary').toBe(tries);
  expect(record.attempts.length, 'attempts').toBe(end === 'fallback' ? 2 : 1);
  if (end !== 'primary') expect(first?.failure?.code, 'why the primary was left').toBe(row.code);
  expectSpacing(row, seen);
  // The same bytes each time.
  expect(new Set(primary.map(({ body }) => body)).size).toBeLessThanOrEqual(1);
  if (end === 'primary') return expectAnswer(scenario, received!, PRIMARY);
  if (end === 'fallback') return expectAnswer(scenario, received!, FALLBACK);
  expect(received!.error, 'the client gets the error').toBeDefined();
  if (end === 'told') return expect([received!.status, received!.text]).toEqual([clientStatus(scenario), '']);
  expect(received!.status).toBe(200);
  expect(PRIMARY.words.join('').startsWith(received!.text) && received!.text !== '', received!.text).toBe(true);
}

/** What the upstream asks for is waited for. */
function expectSpacing({ gapMs = 0 }: Row, { primary, record }: Seen): void {
  const [first] = record.attempts;
  // Timers may fire a fraction of a millisecond early.
  for (const [index, { at }] of primary.slice(1).entries())
    expect(at - primary[index]!.at, 'time between two tries').toBeGreaterThanOrEqual(gapMs - 1);
  for (const { waited_ms: waited = 0 } of first?.tries.slice(1) ?? [])
    expect(waited, 'the recorded wait').toBeGreaterThanOrEqual(gapMs - 1);
}

function expectAnswer({ row, dialect, setup }: Scenario, received: Received, { words, usage }: Answer): void {
  expect([received.status, received.error]).toEqual([200, undefined]);
  const option = received.headers['x-gateway-last-used-option-index'];
  const rescued = row.outcome[setup].end === 'fallback';
  expect(option).toBe(setup === 'alone' || setup === 'retry' ? 'config' : `config.targets[${rescued ? 1 : 0}]`);
  expect(received.model, 'the reply names the model that answered').toBe(
    DIALECTS[rescued ? FALLBACK_OF[dialect] : dialect].model,
  );
  if (row.deed === blocked)
    return expect(received.finish).toMatch(/^(content_filter|refusal|SAFETY|PROHIBITED_CONTENT)$/);
  expect(received.text).toBe(words.join(''));
  expect(received.usage).toEqual(usage);
}

/** An overload is 503 to OpenAI's clients and 529 to Anthropic's. */
function clientStatus({ row: { status, code }, api }: Scenario): number | undefined {
  if (code !== 'overloaded') return status;
  return api === 'messages' ? 529 : 503;
}
