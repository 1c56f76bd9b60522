import type { CatalogEntry } from '../catalog/catalog.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import {
  GatewayError,
  UpstreamError,
  type Attempt,
  type Clock,
  type Exchange,
  type Outbound,
  type TryRecord,
  type Limit,
} from '../plugin/index.ts';
import { formatDuration } from '../upstream/limits.ts';
import type { CommittedReply, Hold, OutboundRequest, RefusedReply, Upstream } from '../upstream/types.ts';
import {
  readRetryAfter,
  readShouldRetry,
  toUpstreamError,
  type UpstreamErrorContext,
} from '../upstream/upstream-error.ts';

export interface SenderSetup {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits: ServerSettings['limits'];
  /** See `OutboundRequest.onHold`. */
  readonly hold: (exchange: Exchange, bytes: number) => boolean;
}

/** An attempt to send. */
export interface SendJob {
  readonly setup: SenderSetup;
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly outbound: Outbound;
  readonly entry: CatalogEntry;
}

/** One call to the upstream. */
export interface UpstreamCall extends Pick<OutboundRequest, 'body' | 'stream' | 'openReader' | 'cancellation'> {
  /** The call's number within its batch. */
  readonly number: number;
}

interface CallReply {
  readonly reply: CommittedReply;
  /** The record of the try that received the reply. */
  readonly record: TryRecord;
}

/**
 * Sends a call: again with a fresh token if the first is refused, and again without signatures if one is refused. Throws
 * UpstreamError for a refusal.
 */
export async function sendUntilReply(job: SendJob, call: UpstreamCall): Promise<CallReply> {
  const { setup, outbound, entry } = job;
  let outcome = await tryOnce(job, call, undefined);
  // A token can be revoked before it expires (docs/protocols/vertex-ai.md#token-refresh). One fresh token is tried;
  // then the refusal is final.
  if (!outcome.result.ok && outcome.result.status === 401 && entry.provider.forgetCredentials?.(outcome.credentials)) {
    const fresh = await authorize(job, call);
    // Some issuers return the same token until it nearly expires (Google's metadata server does).
    if (!isSame(fresh, outcome.credentials)) outcome = await tryOnce(job, call, fresh);
  }
  const lighter = withoutSignatures(job, call, outcome.result);
  if (lighter) outcome = await tryOnce(job, lighter, outcome.credentials);
  const { result, errors, record } = outcome;
  if (result.ok) return { reply: result, record };
  record.error = refusal(result, outbound, errors, setup.clock);
  throw record.error;
}

/**
 * The call without signatures, if the upstream refused one (docs/protocols/replies.md#refused-signatures). The attempt
 * keeps the new body: a retry sends it from the start, so each attempt loses its signatures once. A caller who wants
 * strict parameters gets the refusal.
 */
function withoutSignatures(
  { exchange, attempt, outbound }: SendJob,
  call: UpstreamCall,
  result: CommittedReply | RefusedReply,
): UpstreamCall | undefined {
  if (result.ok || call.body === undefined || !outbound.withoutSignatures || exchange.strictParams) return undefined;
  const lighter = outbound.withoutSignatures(outbound.decodeError(result.status, result.text), call.body);
  if (!lighter) return undefined;
  const { withoutSignatures: _, ...others } = outbound;
  attempt.outbound = { ...others, body: lighter.body };
  attempt.losses.push(...lighter.losses);
  return { ...call, body: lighter.body };
}

export const connectionsOf = ({ setup, entry }: SendJob): number => entry.connections ?? setup.limits.connections;

type Headers = Readonly<Record<string, string>>;

const isSame = (one: Headers, other: Headers): boolean =>
  Object.entries(one).every(([name, value]) => other[name] === value);

/** The credential headers. Most are cached and need no wait. */
function authorize(job: SendJob, call: UpstreamCall): Headers | Promise<Headers> {
  const { exchange, entry } = job;
  try {
    const headers = entry.provider.authorize({ upstreamToken: exchange.upstreamToken });
    return headers instanceof Promise ? awaitToken(headers, job, call) : headers;
  } catch (thrown) {
    throw atTarget(thrown, entry.provider.slug);
  }
}

async function awaitToken(token: Promise<Headers>, job: SendJob, { cancellation }: UpstreamCall): Promise<Headers> {
  const { entry, attempt, setup } = job;
  try {
    const outOfTime = (): GatewayError => noTokenInTime(job);
    return await waitForShared(token, { clock: setup.clock, cancellation, deadline: attempt.deadline, outOfTime });
  } catch (thrown) {
    throw atTarget(thrown, entry.provider.slug);
  }
}

function noTokenInTime({ exchange, attempt, entry }: SendJob): GatewayError {
  const { slug } = entry.provider;
  const when = `passed while the request waited for an access token of "${slug}".`;
  if (deadlineOf(exchange, attempt) === 'request') {
    const limit = formatDuration(exchange.deadline - exchange.startedAt);
    return new GatewayError('timeout_request', `The request's deadline of ${limit} ${when}`);
  }
  const limit = formatDuration(attempt.timeouts.total);
  // The model was not called, so the target's health does not change.
  return new UpstreamError('timeout_total', `${limit} (timeouts.total) ${when}`, { provider: slug, ofGateway: true });
}

const deadlineOf = (exchange: Exchange, attempt: Attempt): 'total' | 'request' =>
  attempt.deadline < exchange.deadline ? 'total' : 'request';

interface Outcome {
  /** The credential headers of the request. */
  readonly credentials: Headers;
  readonly result: CommittedReply | RefusedReply;
  readonly errors: UpstreamErrorContext;
  readonly record: TryRecord;
}

/** @param fresh credentials that replace refused ones */
async function tryOnce(job: SendJob, call: UpstreamCall, fresh: Headers | undefined): Promise<Outcome> {
  const { setup, exchange, attempt, outbound, entry } = job;
  const { upstream, clock, limits } = setup;
  const { body, stream, openReader, cancellation } = call;
  const record = newTry(call.number, clock.now());
  attempt.tries.push(record);
  try {
    const known = fresh ?? authorize(job, call);
    const credentials = known instanceof Promise ? await known : known;
    const errors: UpstreamErrorContext = {
      provider: entry.provider.slug,
      credentials: entry.provider.usesCallersToken ? 'caller' : 'entry',
      secrets: secretsOf(credentials),
    };
    const request: OutboundRequest = {
      body,
      stream,
      openReader,
      cancellation,
      origin: {
        url: outbound.origin,
        allowInsecure: entry.provider.allowInsecure,
        ...(entry.provider.chosenByCaller && { chosenByCaller: true }),
        connections: connectionsOf(job),
      },
      caller: exchange.caller?.keyId ?? exchange.request.remoteAddress,
      method: 'POST',
      path: outbound.path,
      headers: { ...outbound.headers, ...credentials },
      timeouts: attempt.timeouts,
      deadline: attempt.deadline,
      deadlineOf: deadlineOf(exchange, attempt),
      requestMs: exchange.deadline - exchange.startedAt,
      commit: attempt.target.commit,
      hold: holdOf(attempt, stream, limits),
      onBlocked: () => blockedError(attempt, errors),
      maxReplyBytes: limits.reply,
      onHold: (bytes) => setup.hold(exchange, bytes),
      errors,
    };
    const result = await upstream.send(request, record);
    record.status = result.status;
    return { result, errors, record, credentials };
  } catch (thrown) {
    record.error = thrown instanceof GatewayError ? thrown : undefined;
    record.endedAt ??= clock.now();
    throw thrown;
  }
}

/**
 * Created once: `fallsThrough` is called with it for every stream, and creating its stack would be most of the cost.
 */
const NO_CONTENT = new UpstreamError('timeout_first_content', 'No content came.');

/** If the config would fall through, a stream without content is held until `timeouts.first_content`. */
function holdOf({ target, choice }: Attempt, stream: boolean, limits: SenderSetup['limits']): Hold {
  const outlastsSilence = stream && choice.fallsThrough(NO_CONTENT);
  if (target.commit === 'complete') return { bytes: limits.commitBytes, ms: limits.commitMs, outlastsSilence };
  return { bytes: limits.holdBytes, ms: limits.holdMs, outlastsSilence };
}

/** Undefined unless the config falls through: then the client gets the reply as the provider sent it. */
function blockedError({ choice }: Attempt, { provider }: UpstreamErrorContext): UpstreamError | undefined {
  const error = new UpstreamError('content_filter', "The provider's content filter blocked the whole answer.", {
    ...(provider !== undefined && { provider }),
  });
  return choice.fallsThrough(error) ? error : undefined;
}

/** The secrets of credentials that an entry returns for many requests. */
const secretsOfHeaders = new WeakMap<Headers, readonly string[]>();

/** Credential values without their scheme, as an upstream might quote them. */
function secretsOf(credentials: Headers): readonly string[] {
  let secrets = secretsOfHeaders.get(credentials);
  if (!secrets) {
    secrets = Object.values(credentials).map((value) => value.replace(/^(?:Bearer|Basic) /, ''));
    secretsOfHeaders.set(credentials, secrets);
  }
  return secrets;
}

function newTry(call: number, startedAt: number): TryRecord {
  return {
    call,
    startedAt,
    waitedUntil: undefined,
    sentAt: undefined,
    firstByteAt: undefined,
    firstContentAt: undefined,
    endedAt: undefined,
    status: undefined,
    error: undefined,
    resent: false,
    bytesIn: 0,
  };
}

/** Turns a credentials failure into a failure of this target, so that retry and fallback can continue. */
function atTarget(thrown: unknown, slug: string): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'credentials_failed' || thrown instanceof UpstreamError)
    return thrown;
  return new UpstreamError(thrown.code, thrown.message, { cause: thrown, provider: slug });
}

function refusal(
  result: RefusedReply,
  { decodeError }: Outbound,
  errors: UpstreamErrorContext,
  clock: Clock,
): UpstreamError {
  const failure = decodeError(result.status, result.text);
  const retryAfterMs = readRetryAfter(result.headers, failure, clock.wall());
  return toUpstreamError(failure, { ...errors, retryAfterMs, shouldRetry: readShouldRetry(result.headers) });
}

interface Wait extends Limit {
  readonly clock: Clock;
  /** Creates the error of a wait that reaches its deadline. */
  readonly outOfTime: () => GatewayError;
}

/**
 * Waits for work that other requests share. The wait ends at the deadline and with the request; the work continues for
 * the others.
 */
function waitForShared<T>(work: Promise<T>, { clock, cancellation, deadline, outOfTime }: Wait): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  work.then(resolve, reject);
  const stopTimer = clock.after(Math.max(0, deadline - clock.now()), () => reject(outOfTime()));
  const stopListening = cancellation.onCancel(reject);
  return promise.finally(() => {
    stopTimer();
    stopListening();
  });
}
