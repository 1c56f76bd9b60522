import { REFUSED_SIGNATURE } from '../../src/formats/refused-signature.ts';
import type { Attempt, Exchange, KeptResponse } from '../../src/core/kernel/index.ts';
import type { GatewayError } from '../../src/plugin/index.ts';
import type { Observation, SeenAttempt } from '../../src/addons/explain/explain/observation.ts';
import type { ExplainQuestion } from '../../src/addons/explain/explain/question.ts';
import type { FrozenHealth } from '../../src/addons/explain/explain/frozen.ts';

/** One run of the attempt chain, as it was when `send` began. */
export interface SentAttempt {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bodies of the calls that it becomes. */
  readonly bodies: readonly string[];
  readonly stream: boolean;
  /** What ends it. */
  readonly bound: 'total' | 'request';
  readonly timeouts: Attempt['timeouts'];
  /** The client's body as the settings left it. */
  readonly view: unknown;
}

/** As `FrozenResponses`, to be filled. */
export interface FoundResponses {
  readonly responses: Map<string, KeptResponse | undefined>;
  readonly items: Map<string, string>;
}

/** What is noted of a request while it is served. */
export interface Notes {
  readonly sent: Map<Attempt, SentAttempt>;
  /** Attempts for which the gateway went and got media. */
  readonly fetching: Set<Attempt>;
  /** `chain:plugin` for each plugin of the house it came to, and which attempt ran it. */
  readonly reached: Map<Attempt | undefined, Set<string>>;
  body: Buffer | undefined;
  /** Names of the files of its form. */
  files: readonly string[] | undefined;
  health: FrozenHealth;
  /** The kept responses that it looked up. */
  found: FoundResponses | undefined;
}

/** A request that has ended: plain values, which hold nothing of what served it. */
export interface Served {
  readonly question: ExplainQuestion;
  readonly settingsHash: string;
  readonly said: Said;
  readonly reached: readonly (readonly string[])[];
}

export type Said = ReturnType<typeof saidOf>;
export type SaidAttempt = Said['attempts'][number];

/** Codes of unpredictable outcomes of a request. */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['client_closed', 'a client that left'],
  ['timeout_request', 'a deadline that passed'],
  ['shutting_down', 'a gateway that stops'],
  ['request_timeout', 'a body that came too late'],
  ['busy', 'a gateway that is full'],
  ['body_too_slow', 'a gateway that is full'],
]);

/** What of the outside broke a request off. What it had sent by then is compared all the same. */
export function brokenOffBy({ attempts, error, cancellation }: Exchange): string | undefined {
  const errors = [cancellation.reason, error, ...attempts.map((attempt) => attempt.error)];
  return errors.map((one) => one && OUTSIDE.get(one.code)).find((why) => why !== undefined);
}

export function saidOf(exchange: Exchange, { sent, fetching }: Pick<Notes, 'sent' | 'fetching'>) {
  const { attempts, error } = exchange;
  const brokenOff = brokenOffBy(exchange);
  return {
    ...commonOf(exchange, attempts.length),
    brokenOff,
    refused: attempts.length === 0 ? error?.code : undefined,
    attempts: attempts.map((attempt) => {
      const outbound = sent.get(attempt);
      const wasRefused = !outbound || wasRefusedHere(attempt);
      return {
        ...aboutOf(attempt),
        losses: lossesOf(attempt),
        /** Undefined if nothing was sent for an unpredictable reason: the client disconnected, the cache answered. */
        refused: wasRefused ? attempt.error?.code : undefined,
        outbound: wasRefused ? undefined : outbound,
        fetched: fetching.has(attempt),
        unknown: answeredBefore(attempt) || (!outbound && (brokenOff !== undefined || fetching.has(attempt))),
      };
    }),
  };
}

/** The same for explain's observation, as far as it was served. */
export function seenAs({ exchange, attempts }: Observation, said: Said): Said {
  const count = said.attempts.length;
  return {
    ...commonOf(exchange, count),
    brokenOff: said.brokenOff,
    refused: count === 0 ? exchange.error?.code : undefined,
    attempts: attempts.slice(0, count).map((seen, number) => attemptSeenAs(exchange, seen, said.attempts[number]!)),
  };
}

function attemptSeenAs(exchange: Exchange, seen: SeenAttempt, served: SaidAttempt): SaidAttempt {
  const { attempt, supposed } = seen;
  if (served.unknown) return { ...served, ...aboutOf(attempt) };
  const outbound = supposed && sentOf(exchange, attempt, seen);
  // What a target says to a picture it may not say to what was really there.
  if (served.fetched && !outbound) return { ...served, ...aboutOf(attempt) };
  return {
    ...aboutOf(attempt),
    // What explain stands in for fetched media with is another picture.
    losses: served.fetched ? served.losses : lossesOf(attempt),
    refused: outbound ? undefined : attempt.error?.code,
    outbound: outbound && served.fetched && served.outbound ? withoutMedia(outbound, served.outbound) : outbound,
    fetched: served.fetched,
    unknown: false,
  };
}

const withoutMedia = (outbound: SentAttempt, { bodies, view }: SentAttempt): SentAttempt => ({
  ...outbound,
  bodies,
  view,
});

/** Undefined where nothing was written for an upstream. */
export function sentOf(
  exchange: Exchange,
  attempt: Attempt,
  { outbound, body: view }: Pick<SeenAttempt, 'outbound' | 'body'>,
): SentAttempt | undefined {
  if (!outbound || outbound.answer) return undefined;
  const { origin, path, headers, body, batch, stream } = outbound;
  return {
    method: 'POST',
    url: origin + path,
    headers,
    bodies: (batch?.bodies ?? [body]).map(String),
    stream,
    bound: attempt.deadline < exchange.deadline ? 'total' : 'request',
    timeouts: { ...attempt.timeouts },
    view: view.json(),
  };
}

function commonOf(exchange: Exchange, attempts: number) {
  const { caller, config, strict, strictParams, metadata, labels, conditions, skipped, operation } = exchange;
  return {
    operation: operation?.id,
    key: caller?.keyId,
    ownUpstreamToken: exchange.upstreamToken !== undefined,
    config: config && { id: config.id, hash: config.hash, name: config.name },
    strict,
    strictParams,
    metadata: { ...metadata },
    labels: { ...labels },
    deadlineMs: Math.round(exchange.deadline - exchange.startedAt),
    conditions: conditions.map(({ at, condition, to }) => ({ at, condition, to })),
    skipped: skipped.flatMap(({ target, reason, after }) => (after < attempts ? [[target.path, reason, after]] : [])),
  };
}

const aboutOf = ({ target, choice, cache }: Attempt) => ({
  target: target.path,
  why: choice.reason,
  cached: cache !== undefined,
});

/** Except for losses that an answer of the upstream caused. */
const lossesOf = ({ losses }: Attempt) =>
  losses
    .filter(({ reason }) => !reason.startsWith(REFUSED_SIGNATURE))
    .map(({ param, action, reason }) => ({ param, action, reason }));

/** It called no upstream, because another request's answer was there. */
const answeredBefore = ({ cache }: Attempt): boolean =>
  cache === 'hit' || cache === 'semantic_hit' || cache === 'shared';

/** By the gateway itself, for want of a credential or by a limit of rates: written, and not sent. */
const wasRefusedHere = ({ error }: { readonly error: GatewayError | undefined }): boolean =>
  error?.code === 'upstream_credentials_required' || error?.limit !== undefined;
