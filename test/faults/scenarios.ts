import { DIALECTS, type DialectName, type StreamParts } from './kit/dialects.ts';
import {
  blocked,
  brokenStream,
  errorUnder200,
  garbledBody,
  half,
  headOnly,
  healthy,
  html,
  late,
  once,
  partOfBody,
  PRIMARY,
  refuse,
  reset,
  silence,
  streamOf,
} from './kit/deeds.ts';
import { slugOf } from './kit/rig.ts';
import type { Deed } from './kit/upstream.ts';

/** How a config is made: one target or two, retries or none, and when a stream begins to leave. */
export const SETUPS = {
  alone: 'one target',
  retry: 'one target, `retry: {attempts: 2}`',
  fallback: 'a fallback',
  both: 'a fallback, and `retry: {attempts: 2}` at the first target',
  complete: 'a fallback, `commit: complete`',
} as const;
export type Setup = keyof typeof SETUPS;
export const SETUP_NAMES = Object.keys(SETUPS) as Setup[];

/**
 * What becomes of a request. primary, fallback: who answers. told: the client gets the error in place of a reply. broken: the
 * reply had begun, and ends with one error event.
 */
export interface Outcome {
  readonly end: 'primary' | 'fallback' | 'told' | 'broken';
  /** Tries at the primary. */
  readonly tries: number;
}

const primary = (tries = 1): Outcome => ({ end: 'primary', tries });
const rescued = (tries = 1): Outcome => ({ end: 'fallback', tries });
const reported = (tries = 1): Outcome => ({ end: 'told', tries });
const broken: Outcome = { end: 'broken', tries: 1 };

export type Form = 'plain' | 'stream';

export interface Row {
  readonly fault: string;
  readonly deed: Deed;
  /** What the primary's attempt is recorded with, where it fails. */
  readonly code?: string;
  /** What its status is for the gateway. */
  readonly status?: number;
  readonly forms?: readonly Form[];
  readonly dialects?: readonly DialectName[];
  /** `timeouts` of the primary. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Nobody listens at the primary's port. */
  readonly refused?: true;
  /** Least time between two tries at the primary. */
  readonly gapMs?: number;
  readonly outcome: Readonly<Record<Setup, Outcome>>;
}

const everywhere = (outcome: Outcome): Row['outcome'] => ({
  alone: outcome,
  retry: outcome,
  fallback: outcome,
  both: outcome,
  complete: outcome,
});
/** Passes: the second try is answered. */
const PASSES: Row['outcome'] = {
  alone: reported(),
  retry: primary(2),
  fallback: rescued(),
  both: primary(2),
  complete: rescued(),
};
/** Stays: all tries that there are go by. */
const STAYS: Row['outcome'] = {
  alone: reported(),
  retry: reported(3),
  fallback: rescued(),
  both: rescued(3),
  complete: rescued(),
};
/** No second try there would help. */
const GOES_ON: Row['outcome'] = { ...STAYS, retry: reported(), both: rescued() };
/** Retried only if no other target is left. */
const NOT_TWICE: Row['outcome'] = { ...STAYS, both: rescued() };
/** Too late for another target, unless nothing has been sent. */
const BREAKS: Row['outcome'] = { ...everywhere(broken), complete: rescued() };

const limited = { status: 429, message: 'Too many requests.', code: 'rate_limit_exceeded' };
const RATE_LIMIT = { code: 'rate_limit_exceeded', status: 429 };
const INTERRUPTED = { code: 'stream_interrupted', status: 502, forms: ['stream'] } as const;
const streams: readonly Form[] = ['stream'];
const plains: readonly Form[] = ['plain'];

/** The upstream answers, and its answer is of no use; nothing has reached the client. */
export const REFUSALS: readonly Row[] = [
  {
    fault: '429 with Retry-After, once',
    deed: once(refuse(limited, { 'retry-after-ms': '60' })),
    ...RATE_LIMIT,
    gapMs: 60,
    outcome: PASSES,
  },
  {
    fault: '429 with Retry-After, always',
    deed: refuse(limited, { 'retry-after-ms': '40' }),
    ...RATE_LIMIT,
    gapMs: 40,
    outcome: STAYS,
  },
  {
    fault: '429 with a Retry-After of an hour',
    deed: refuse(limited, { 'retry-after': '3600' }),
    ...RATE_LIMIT,
    outcome: GOES_ON,
  },
  { fault: '429 without Retry-After, once', deed: once(refuse(limited)), ...RATE_LIMIT, outcome: PASSES },
  { fault: '429 without Retry-After, always', deed: refuse(limited), ...RATE_LIMIT, outcome: STAYS },
  {
    fault: '500, once',
    deed: once(refuse({ status: 500, message: 'Internal error.' })),
    code: 'upstream_error',
    status: 500,
    outcome: PASSES,
  },
  {
    fault: '503, always',
    deed: refuse({ status: 503, message: 'Overloaded.' }),
    code: 'overloaded',
    status: 503,
    outcome: STAYS,
  },
  {
    fault: '529, always',
    deed: refuse({ status: 529, message: 'Overloaded.' }),
    code: 'overloaded',
    status: 529,
    outcome: STAYS,
  },
  {
    fault: 'HTML with 200',
    deed: html,
    code: 'upstream_error',
    status: 502,
    outcome: STAYS,
  },
  { fault: 'error as the first event', deed: errorUnder200, code: 'overloaded', status: 503, outcome: STAYS },
  {
    fault: 'context length',
    deed: refuse(({ dialect }) => dialect.tooLong),
    code: 'context_length_exceeded',
    status: 400,
    outcome: GOES_ON,
  },
  {
    fault: 'content filter, as an error',
    deed: refuse({ status: 400, message: 'The prompt was filtered.', code: 'content_filter' }),
    code: 'content_filter',
    status: 400,
    dialects: ['openai', 'responses'],
    outcome: everywhere(reported()),
  },
  { fault: 'content filter, as an answer', deed: blocked, outcome: everywhere(primary()) },
  {
    fault: '400, the request’s own fault',
    deed: refuse({ status: 400, message: 'temperature is out of range' }),
    code: 'upstream_rejected',
    status: 400,
    outcome: everywhere(reported()),
  },
  {
    fault: '401, the entry’s own key is refused',
    deed: refuse({ status: 401, message: 'invalid key', code: 'invalid_api_key' }),
    code: 'upstream_credentials_refused',
    status: 502,
    dialects: ['openai', 'responses', 'anthropic'],
    outcome: GOES_ON,
  },
  {
    // The Gemini entry of the rig is sent the caller's token.
    fault: '401, the caller’s own token is refused',
    deed: refuse({ status: 401, message: 'invalid token' }),
    code: 'invalid_api_key',
    status: 401,
    dialects: ['gemini'],
    outcome: everywhere(reported()),
  },
];

/** The upstream does not answer, or breaks off before its first content; nothing has reached the client. */
export const SILENCES: readonly Row[] = [
  { fault: 'healthy', deed: healthy(PRIMARY), outcome: everywhere(primary()) },
  { fault: 'reset before headers', deed: reset, code: 'connection_failed', status: 502, outcome: STAYS },
  {
    fault: 'reset before headers, once',
    deed: once(reset),
    code: 'connection_failed',
    status: 502,
    outcome: PASSES,
  },
  {
    fault: 'refused connection',
    deed: healthy(PRIMARY),
    refused: true,
    code: 'connection_failed',
    status: 502,
    outcome: STAYS,
  },
  {
    fault: 'silence',
    deed: silence,
    code: 'timeout_first_byte',
    status: 504,
    timeouts: { first_byte: 60 },
    outcome: NOT_TWICE,
  },
  {
    fault: 'headers and then silence',
    deed: headOnly,
    code: 'timeout_first_content',
    status: 504,
    forms: streams,
    timeouts: { first_content: 80 },
    outcome: NOT_TWICE,
  },
  {
    fault: 'pings only',
    deed: streamOf(({ head }, { dialect }) => [...head, dialect.ping, dialect.ping], 'stall'),
    code: 'timeout_first_content',
    status: 504,
    forms: streams,
    timeouts: { first_content: 80 },
    outcome: NOT_TWICE,
  },
  { fault: 'slow first token, within its time', deed: late(40), outcome: everywhere(primary()) },
  {
    fault: 'cut before the first content',
    deed: streamOf(({ head }, { dialect }) => [...head, dialect.ping], 'close'),
    ...INTERRUPTED,
    outcome: STAYS,
  },
  {
    fault: 'end before the first content',
    deed: streamOf(({ head }, { dialect }) => [...head, dialect.ping], 'end'),
    ...INTERRUPTED,
    outcome: STAYS,
  },
  {
    fault: 'cut inside a plain body',
    deed: partOfBody('close'),
    code: 'stream_interrupted',
    status: 502,
    forms: plains,
    outcome: STAYS,
  },
  {
    fault: 'stall inside a plain body',
    deed: partOfBody('stall'),
    code: 'timeout_idle',
    status: 504,
    forms: plains,
    timeouts: { idle: 60 },
    outcome: NOT_TWICE,
  },
  { fault: 'malformed body', deed: garbledBody, code: 'upstream_error', status: 502, forms: plains, outcome: STAYS },
  {
    fault: 'malformed first event',
    deed: streamOf(({ head, words }, { dialect }) => [...head, dialect.malformed, ...words], 'end'),
    code: 'upstream_error',
    status: 502,
    forms: streams,
    outcome: STAYS,
  },
];

const opening = ({ head, words }: StreamParts): readonly string[] => [...head, words[0]!, words[1]!];
const overloaded = { status: 503, message: 'The model is overloaded.' };

/** The client has the first words when the fault shows. */
export const AFTER_CONTENT: readonly Row[] = [
  {
    fault: 'cut inside an event',
    deed: brokenStream(opening, ({ words }) => [half(words[2]!, 'event')], 'close'),
    ...INTERRUPTED,
    outcome: BREAKS,
  },
  {
    fault: 'cut inside a character',
    deed: brokenStream(opening, ({ words }) => [half(words[2]!, 'character')], 'close'),
    ...INTERRUPTED,
    outcome: BREAKS,
  },
  {
    fault: 'reset between two events',
    deed: brokenStream(opening, ({ words }) => [words[2]!], 'reset'),
    ...INTERRUPTED,
    outcome: BREAKS,
  },
  {
    fault: 'end without a finish',
    deed: brokenStream(opening, ({ words }) => words.slice(2), 'end'),
    ...INTERRUPTED,
    outcome: BREAKS,
  },
  {
    fault: 'stall after a ping',
    deed: brokenStream(opening, (_, { dialect }) => [dialect.ping], 'stall'),
    code: 'timeout_idle',
    status: 504,
    forms: streams,
    timeouts: { idle: 60 },
    outcome: BREAKS,
  },
  {
    fault: 'pings for ever',
    deed: brokenStream(opening, () => [], 'ping'),
    code: 'timeout_total',
    status: 504,
    forms: streams,
    timeouts: { idle: 600, total: 1500 },
    outcome: BREAKS,
  },
  {
    fault: 'malformed event',
    deed: brokenStream(
      opening,
      ({ words, finish, mark }, { dialect }) => [dialect.malformed, ...words.slice(2), ...finish, ...mark],
      'end',
    ),
    code: 'upstream_error',
    status: 502,
    forms: streams,
    outcome: BREAKS,
  },
  {
    fault: 'error event',
    deed: brokenStream(opening, (_, { dialect }) => [dialect.errorEvent(overloaded)], 'end'),
    code: 'overloaded',
    status: 503,
    forms: streams,
    outcome: BREAKS,
  },
  {
    fault: 'no terminal marker: the finish, but no `[DONE]` or `message_stop`',
    deed: brokenStream(opening, ({ words, finish }) => [...words.slice(2), ...finish], 'end'),
    forms: streams,
    outcome: everywhere(primary()),
  },
];

/** The fallback speaks another dialect than the primary. */
export const FALLBACK_OF: Readonly<Record<DialectName, DialectName>> = {
  openai: 'gemini',
  responses: 'anthropic',
  anthropic: 'responses',
  gemini: 'openai',
};

export const configId = (dialect: DialectName, setup: Setup, { timeouts = {}, refused }: Row): string =>
  [dialect, setup, ...Object.keys(timeouts), ...Object.values(timeouts), ...(refused ? ['refused'] : [])]
    .join('-')
    .replaceAll('_', '-');

const target = (role: 'primary' | 'fallback' | 'refused', dialect: DialectName) => ({
  provider: `@${slugOf(role, dialect)}`,
  override_params: { model: DIALECTS[dialect].model },
});

export function configFor(
  dialect: DialectName,
  setup: Setup,
  { timeouts, refused }: Pick<Row, 'timeouts' | 'refused'>,
): object {
  const first = {
    ...target(refused ? 'refused' : 'primary', dialect),
    ...(timeouts && { timeouts }),
    ...((setup === 'retry' || setup === 'both') && {
      retry: { attempts: 2, min_delay: '1ms', max_delay: '2s' },
    }),
  };
  if (setup === 'alone' || setup === 'retry') return first;
  return {
    strategy: { mode: 'fallback' },
    ...(setup === 'complete' && { commit: 'complete' }),
    targets: [first, target('fallback', FALLBACK_OF[dialect])],
  };
}
