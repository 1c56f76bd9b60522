import { FormBody } from '../kernel/forms/form-body.ts';
import { GatewayError, UpstreamError, type Clock } from '../../plugin/index.ts';
import { newTry, type TryRecord, type Limit } from '../kernel/index.ts';
import { formatDuration } from '../upstream/limits.ts';
import type { CommittedReply, RefusedReply } from '../upstream/types.ts';
import {
  readRetryAfter,
  readShouldRetry,
  toUpstreamError,
  type UpstreamErrorContext,
} from '../upstream/upstream-error.ts';
import { CallRequest, deadlineOf } from './call-request.ts';
import { limitHeaders } from './rate-limit-headers.ts';
import type { SendJob, UpstreamCall } from './send-job.ts';

/** @param record of the try that received the reply */
type ReadReply<T> = (reply: CommittedReply, record: TryRecord) => T;

/**
 * Sends a call: again with a fresh token if the first is refused, and again without signatures if one is refused.
 * Resolves with what `read` returns, in one promise for all steps. Rejects with UpstreamError for a refusal.
 */
export function sendUntilReply<T>(job: SendJob, call: UpstreamCall, read: ReadReply<T>): Promise<T> {
  return tryOnce(job, call, undefined, (first) =>
    first.result.ok ? read(first.result, first.record) : sendAgain(job, call, first, read),
  );
}

async function sendAgain<T>(job: SendJob, call: UpstreamCall, refused: SentCall, read: ReadReply<T>): Promise<T> {
  const { entry } = job;
  let outcome = refused;
  // One fresh token is tried: one can be revoked early (docs/protocols/vertex-ai.md#token-refresh).
  if (canResend(job) && outcome.result.status === 401 && entry.provider.forgetCredentials?.(outcome.credentials)) {
    const fresh = await authorize(job, call);
    // Some issuers return the same token until it nearly expires (Google's metadata server does).
    if (!isSame(fresh, outcome.credentials)) outcome = await tryOnce(job, call, fresh, asIs);
  }
  const lighter = withoutSignatures(job, call, outcome.result);
  if (lighter) outcome = await tryOnce(job, lighter, outcome.credentials, asIs);
  const { result, request, record } = outcome;
  if (result.ok) return read(result, record);
  record.error = refusal(result, job, request.errors);
  throw record.error;
}

/** A form that passes through as it arrives can be sent once. */
const canResend = ({ exchange }: SendJob): boolean => exchange.request.form?.spent !== true;

/**
 * The call without refused signatures (docs/protocols/replies.md#refused-signatures). A retry sends it from the start.
 * A caller who wants strict parameters gets the refusal.
 */
function withoutSignatures(
  { exchange, attempt, outbound }: SendJob,
  call: UpstreamCall,
  result: CommittedReply | RefusedReply,
): UpstreamCall | undefined {
  const { body } = call;
  if (result.ok || body === undefined || body instanceof FormBody) return undefined;
  if (!outbound.withoutSignatures || exchange.strictParams) return undefined;
  const lighter = outbound.withoutSignatures(outbound.decodeError(result.status, result.text), body);
  if (!lighter) return undefined;
  const { withoutSignatures: _, ...others } = outbound;
  attempt.outbound = { ...others, body: lighter.body };
  attempt.losses.push(...lighter.losses);
  return { ...call, body: lighter.body };
}

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

interface SentCall {
  readonly credentials: Headers;
  readonly result: CommittedReply | RefusedReply;
  /** Its `errors` are read for a refusal only. */
  readonly request: CallRequest;
  readonly record: TryRecord;
}

const asIs = (outcome: SentCall): SentCall => outcome;

/** @param then what follows the outcome. Its errors are not the try's. */
function tryOnce<T>(
  job: SendJob,
  call: UpstreamCall,
  fresh: Headers | undefined,
  then: (outcome: SentCall) => T | Promise<T>,
): Promise<T> {
  const { clock } = job.setup;
  const { attempt } = job;
  const record = newTry(call.number, clock.now());
  const before = attempt.tries.at(-1);
  if (before) {
    // The usage that the upstream counted of a reply that is tried again.
    before.signals = attempt.signals;
    attempt.signals = undefined;
  }
  attempt.tries.push(record);
  const failed = (thrown: unknown): never => {
    record.error = thrown instanceof GatewayError ? thrown : undefined;
    record.endedAt ??= clock.now();
    throw thrown;
  };
  const send = (credentials: Headers): Promise<T> => {
    const request = new CallRequest(job, call, credentials);
    const tap = job.setup.taps?.calling?.(job.exchange, attempt, request, record);
    if (tap) request.openReader = (reply) => tap.reading(reply, call.openReader(reply));
    return job.setup.upstream.send(request, record).then((result) => {
      record.status = result.status;
      if (tap && !result.ok) tap.refused(result);
      return then({ result, request, record, credentials });
    }, failed);
  };
  try {
    const known = fresh ?? authorize(job, call);
    return known instanceof Promise ? known.then(send, failed) : send(known);
  } catch (thrown) {
    return Promise.reject(thrown).catch(failed);
  }
}

/** Turns a credentials failure into a failure of this target, so that retry and fallback can continue. */
function atTarget(thrown: unknown, slug: string): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'credentials_failed' || thrown instanceof UpstreamError)
    return thrown;
  return new UpstreamError(thrown.code, thrown.message, { cause: thrown, provider: slug });
}

function refusal(result: RefusedReply, job: SendJob, errors: UpstreamErrorContext): UpstreamError {
  const { outbound, setup } = job;
  const failure = outbound.decodeError(result.status, result.text);
  return toUpstreamError(failure, {
    ...errors,
    retryAfterMs: readRetryAfter(result.headers, failure, setup.clock.wall()),
    limitHeaders: limitHeaders(result.headers, job),
    shouldRetry: readShouldRetry(result.headers),
  });
}

interface Wait extends Limit {
  readonly clock: Clock;
  readonly outOfTime: () => GatewayError;
}

/** The wait ends at the deadline and with the request; the work continues for the requests that share it. */
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
