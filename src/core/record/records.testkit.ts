import fc from 'fast-check';
import type { ErrorCode } from '../../plugin/index.ts';
import type { BoundedRecord } from './bounded-record.ts';
import { ERROR_LABELS } from './error-types.ts';
import { WALL } from './exchange.testkit.ts';
import type { RecordedCost } from './costs.ts';
import { SUBSTITUTIONS } from './substitution.ts';
import type {
  RecordedAttempt,
  RecordedFailure,
  RecordedPlace,
  RecordedSemantic,
  RecordedSkip,
  RecordedTry,
  RequestOutcome,
} from './record.ts';

/** Texts that a writer of JSON or a search for credentials may read wrongly. Records have no lone surrogates: see `cut`. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\u2028',
        'é',
        '😀',
        ' ',
        ':',
        'Bearer ',
        'sk-',
        'abcdefghijklmnop',
        'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.',
        '"password":',
        '"password":"x"',
        '-----BEGIN PRIVATE KEY-----',
        '-----END PRIVATE KEY-----',
        'a',
        '-',
        '0',
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom('sk-abcdefghijklmnop', 'req_1', 'gatehouse_abcdefghijkl_12345678'),
  text,
);
const ms = fc.oneof(
  fc.double({ min: 0, max: 5000, noNaN: true }),
  fc.integer({ min: 0, max: 5000 }),
  fc.constantFrom(0, 0.0004, 0.0005, 0.9996, 999.9995, 1e9, 1e12, -0.0001, -3.25),
);
const count = fc.nat(3);
const outcome = fc.constantFrom<RequestOutcome>('success', 'error', 'aborted');
const code = maybe(fc.constantFrom(...(Object.keys(ERROR_LABELS) as ErrorCode[])));
const typeOf = (errorCode: ErrorCode | undefined) => (errorCode ? ERROR_LABELS[errorCode].errorType : '');
const provider = fc.constantFrom('openai', 'claude', 'vertex');

const place: fc.Arbitrary<RecordedPlace> = fc.record({
  provider,
  semconvName: fc.constant('openai'),
  model: fc.oneof(fc.constantFrom('gpt-5', 'claude-sonnet-4-5'), text),
  modelLabel: fc.constantFrom('gpt-5', 'claude-sonnet-4-5', '__other__'),
  url: fc.oneof(fc.constant('https://api.openai.com/v1/chat/completions'), text),
});

const recordedTry: fc.Arbitrary<RecordedTry> = fc
  .record({
    call: fc.nat(1),
    startedMs: ms,
    durationMs: ms,
    waitedMs: ms,
    inLineMs: maybe(ms),
    status: maybe(fc.constantFrom(200, 429, 503)),
    outcome,
    errorCode: code,
    resent: fc.boolean(),
  })
  .map((one) => ({ ...one, errorType: typeOf(one.errorCode) }));

const failure: fc.Arbitrary<RecordedFailure> = fc.record({
  kinds: fc.constantFrom(['rate_limit'], ['overloaded', 'stream_error']),
  status: fc.constantFrom(429, 503),
  upstreamKind: maybe(text),
  upstreamMessage: maybe(text),
  upstreamParam: maybe(text),
  upstreamCode: maybe(text),
  retryAfterMs: maybe(ms),
});

const cost: fc.Arbitrary<RecordedCost> = fc
  .record({ nano: count, reason: fc.constantFrom('model', 'kind'), isKnown: fc.boolean(), saved: maybe(count) })
  .chain(({ nano, reason, isKnown, saved }) =>
    fc.record({
      nano: fc.constant(isKnown ? nano : undefined),
      unknown: fc.constant(isKnown ? undefined : reason),
      source: fc.constantFrom('reported', 'estimated', 'cache'),
      saved: fc.constant(saved),
    }),
  );

const semantic: fc.Arbitrary<RecordedSemantic> = fc.record({
  result: fc.constantFrom('hit', 'differs', 'failed'),
  reason: maybe(text),
  similarity: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
  embedding: maybe(
    fc.record({
      provider,
      modelLabel: fc.constant('text-embedding-005'),
      durationMs: ms,
      tokens: maybe(count),
      cost: maybe(cost),
      result: fc.constantFrom('success', 'late', 'failed'),
    }),
  ),
});

const loss = fc.record(
  {
    param: fc.oneof(fc.constantFrom('seed', 'messages[0].content'), text),
    action: fc.constantFrom('dropped', 'clamped', 'downgraded'),
    count: fc.integer({ min: 1, max: 1000 }),
  },
  { requiredKeys: ['param', 'action'] },
);

const cache = maybe(fc.constantFrom('hit', 'miss', 'shared', 'semantic_hit', 'refresh', 'bypass'));

const PREFIXES: RecordedAttempt['prefixes'] = {
  by: 'k',
  tools: 600,
  system: 0,
  sorted: 'Zm9vYmFyYmF6cXV4',
  prefixes: [
    [512, 'Zm9vYmFyYmF6cXV1'],
    [600, 'Zm9vYmFyYmF6cXV2'],
  ],
};

const attempt: fc.Arbitrary<RecordedAttempt> = fc
  .record({
    number: count,
    target: fc.oneof(fc.constantFrom('config.targets[0]', 'config.targets[1]'), text),
    targetName: maybe(fc.oneof(fc.constantFrom('primary'), text)),
    why: fc.constantFrom('only', 'first', 'fallback'),
    place: maybe(place),
    startedMs: ms,
    durationMs: ms,
    outcome,
    errorCode: code,
    failure: maybe(failure),
    counted: fc.boolean(),
    answered: fc.boolean(),
    stream: fc.boolean(),
    commit: fc.constantFrom('first_content', 'first_byte'),
    cache,
    cacheMode: fc.constantFrom('exact', 'semantic'),
    semantic: maybe(semantic),
    tries: fc.array(recordedTry, { maxLength: 3 }),
    retries: count,
    firstContentMs: maybe(ms),
    responseModel: maybe(text),
    finish: maybe(fc.constantFrom('stop', 'length', 'tool_calls')),
    usage: maybe(
      fc.record({
        input: count,
        output: fc.nat(100),
        total: count,
        cacheRead: maybe(count),
        cacheWrite: maybe(count),
        reasoning: maybe(count),
      }),
    ),
    claimedUsage: fc.constantFrom(undefined, { input: 1e300, output: -1, total: NaN }),
    cost: maybe(cost),
    substitution: fc.constantFrom(undefined, ...SUBSTITUTIONS),
    lostCosts: fc.array(cost, { maxLength: 2 }),
    estimated: fc.boolean(),
    prefixes: fc.constantFrom(undefined, PREFIXES),
    losses: fc.array(loss, { maxLength: 3 }),
    files: fc.array(fc.record({ id: text, bytes: count, way: fc.constantFrom('inline', 'uri') }), { maxLength: 2 }),
    defaulted: fc.array(fc.record({ param: text, value: fc.nat() }), { maxLength: 2 }),
  })
  .map((one) => ({ ...one, errorType: typeOf(one.errorCode) }) as RecordedAttempt);

const skip: fc.Arbitrary<RecordedSkip> = fc.record(
  { target: text, targetName: text, provider: text, reason: fc.constant('circuit_open'), after: count },
  { requiredKeys: ['target', 'reason', 'after'] },
);

/** Any record of an ended request: rarely one that requests have, always one that they could have. */
export const anyRecord: fc.Arbitrary<BoundedRecord> = fc
  .record({
    id,
    explainId: maybe(id),
    traceId: fc.constant('0af7651916cd43dd8448eb211c80319c'),
    spanId: maybe(fc.constant('b7ad6b7169203331')),
    isSampled: fc.boolean(),
    receivedAt: fc.double({ min: WALL, max: WALL + 100_000, noNaN: true }),
    state: fc.constantFrom('complete', 'failed', 'aborted'),
    method: fc.constantFrom('POST', 'GET'),
    path: fc.oneof(fc.constant('/v1/chat/completions'), text),
    route: maybe(fc.constantFrom('/v1/chat/completions', '/v1/messages')),
    operation: maybe(fc.constant('chat.completions')),
    semconvName: maybe(fc.constant('chat')),
    clientAddress: fc.constantFrom('127.0.0.1', '::1'),
    userAgent: maybe(text),
    keyId: maybe(fc.constantFrom('team-search', 'team-ads', 'greedy')),
    team: maybe(fc.constantFrom('search', 'ads')),
    origin: maybe(fc.constant('playground')),
    metadata: maybe(fc.dictionary(fc.oneof(fc.constantFrom('team', 'password', 'cookie'), text), text, { maxKeys: 3 })),
    metadataDropped: fc.nat(1),
    metadataLeftOut: fc.nat(1),
    configId: maybe(fc.constant('prod')),
    namesConfig: maybe(fc.constantFrom('named' as const, 'inline' as const)),
    askedModel: maybe(fc.constantFrom('gpt-4o-mini', '@openai/gpt-4o-mini', 'fast')),
    draws: maybe(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 1, maxLength: 3 }),
    ),
    alias: maybe(fc.constantFrom('fast', 'claude-gw-x')),
    prompt: maybe(fc.record({ id: text, version: count })),
    upload: maybe(fc.record({ id: text, bytes: count })),
    settingsHash: fc.constant('0123456789abcdef'),
    deadlineMs: ms,
    durationMs: ms,
    overheadMs: ms,
    firstContentMs: maybe(ms),
    status: fc.constantFrom(200, 404, 499, 503),
    outcomeStatus: fc.constantFrom(200, 404, 499, 503),
    outcome,
    errorCode: code,
    plugin: maybe(text),
    disconnectStage: maybe(fc.constantFrom('queued', 'waiting', 'streaming')),
    limitedBy: maybe(fc.constantFrom('key:requests', 'entry:concurrency', 'team:search:month:usd')),
    rejection: maybe(fc.constantFrom('auth', 'schema', 'routing')),
    stream: fc.boolean(),
    bytesIn: count,
    bytesOut: count,
    cache,
    retries: count,
    attempts: fc.array(attempt, { maxLength: 3 }),
    skipped: fc.array(skip, { maxLength: 2 }),
    ignoredPlace: maybe(fc.record({ project: text, location: text })),
    conditions: fc.array(
      fc.record({ at: fc.constant('config'), condition: maybe(count), to: fc.constant('config.targets[0]') }),
      { maxLength: 2 },
    ),
    guards: maybe(
      fc.array(
        fc.record({
          guard: text,
          on: fc.constantFrom('input', 'output'),
          action: fc.constantFrom('deny', 'observe', 'mask'),
          verdict: fc.constantFrom('pass', 'denied', 'masked', 'observed', 'error', 'skipped', 'unseen'),
          matches: count,
        }),
        { maxLength: 2 },
      ),
    ),
    leftOut: maybe(fc.record({ attempts: count, tries: count, losses: count, files: count, skipped: count })),
  })
  .map((one) => ({
    ...one,
    configHash: one.configId && 'feedfeedfeedfeed',
    errorType: typeOf(one.errorCode),
  })) as fc.Arbitrary<BoundedRecord>;

/** The costs of a whole request, as its access line has them. */
export function plainCosts(attempts: BoundedRecord['attempts'], source: string | undefined) {
  const costs = attempts.flatMap((one) => [one.cost, ...one.lostCosts, one.semantic?.embedding?.cost]);
  const sum = (which: 'nano' | 'saved'): number | undefined => {
    const known = costs.flatMap((one) => one?.[which] ?? []);
    return known.length === 0 ? undefined : known.reduce((all, one) => all + one, 0) / 1e9;
  };
  return {
    cost_usd: sum('nano'),
    cost_source: source,
    cost_unknown: costs.flatMap((one) => one?.unknown ?? [])[0],
    saved_usd: sum('saved'),
  };
}
