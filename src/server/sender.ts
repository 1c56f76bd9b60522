import type { CatalogEntry } from '../catalog/catalog.ts';
import { entryOf } from '../catalog/catalog-target.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { ReplyFault } from '../formats/format.ts';
import {
  Cancellation,
  GatewayError,
  UpstreamError,
  type Attempt,
  type Batch,
  type Clock,
  type Exchange,
  type Outbound,
  type Reply,
  type Sender,
  type TryRecord,
} from '../plugin/index.ts';
import type { CommittedReply, OutboundRequest, RefusedReply, Upstream } from '../upstream/types.ts';
import { CollectingReader, readWhole } from './whole-reply.ts';
import { readRetryAfter, toUpstreamError, type UpstreamErrorContext } from '../upstream/upstream-error.ts';

export interface SenderSetup {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits: ServerSettings['limits'];
}

/** Sends an attempt's request: authorise, connect, wait for the commit gate, tell what a refusal means. */
export function createSender(setup: SenderSetup): Sender {
  return {
    async send(exchange, attempt) {
      const { outbound } = attempt;
      if (!outbound) throw new GatewayError('internal_error', 'The send plugin ran before a request was encoded.');
      const entry = attempt.resolved && entryOf(attempt.resolved);
      if (!entry)
        throw new GatewayError('internal_error', 'The send plugin was given a target that no catalog entry made.');
      const job: Job = { setup, exchange, attempt, outbound, entry };
      if (outbound.batch) return sendBatch(job, outbound.batch);
      return toReply(await ask(job, wholeRequest(job)), outbound);
    },
  };
}

interface Job {
  readonly setup: SenderSetup;
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly outbound: Outbound;
  readonly entry: CatalogEntry;
}

/** One call of the upstream. */
interface Call extends Pick<OutboundRequest, 'body' | 'stream' | 'openReader' | 'cancellation'> {
  /** Its number within a batch. */
  readonly number: number;
}

function wholeRequest({ attempt, outbound }: Job): Call {
  return {
    number: 0,
    body: outbound.body,
    stream: outbound.stream,
    cancellation: attempt.cancellation,
    openReader: (reply) => {
      const reader = outbound.openReader(reply);
      attempt.signals = reader.signals;
      return reader;
    },
  };
}

/** Calls until an answer stands. Throws UpstreamError for a refusal. */
async function ask(job: Job, call: Call): Promise<CommittedReply> {
  const { setup, outbound, entry } = job;
  let answer = await tryOnce(job, call);
  // A token can be revoked before it expires: one fresh one is worth a try (wire.md C11), then the refusal stands.
  if (!answer.result.ok && answer.result.status === 401 && entry.provider.forgetCredentials?.())
    answer = await tryOnce(job, call);
  const { result, errors, record } = answer;
  if (result.ok) return result;
  record.error = refusal(result, outbound, errors, setup.clock);
  throw record.error;
}

/** Why calls end that did not fail themselves; nobody is told. */
const GIVEN_UP = new GatewayError('client_closed', 'Another call of the same request failed.');

/** All calls, so many at once; the first that fails ends the others. What has been answered stays for a retry. */
async function sendBatch(job: Job, batch: Batch): Promise<Reply> {
  const { setup, attempt, outbound, entry } = job;
  const { slug } = entry.provider;
  const group = new Cancellation();
  const stopListening = attempt.cancellation.onCancel((reason) => group.cancel(reason));
  const missing = batch.bodies.keys().filter((number) => !batch.replies.has(number));
  let last: CommittedReply | undefined;
  const work = async (): Promise<void> => {
    // Workers share the iterator: each takes the next call that nobody has.
    for (const number of missing) {
      if (group.reason) throw group.reason;
      last = await ask(job, callOf(batch, number, group));
      const bytes = await readWhole(last.body, group);
      batch.bytesRead += bytes.length;
      if (batch.bytesRead > setup.limits.reply) throw tooLarge(slug, setup.limits.reply);
      batch.replies.set(
        number,
        readable(slug, () => batch.read(bytes)),
      );
    }
  };
  // More calls than connections would wait in line until their time to connect is over.
  const workers = Math.min(batch.parallel, batch.bodies.length, connectionsOf(job));
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } catch (error) {
    group.cancel(GIVEN_UP);
    throw error;
  } finally {
    stopListening();
  }
  const { body, signals } = joinReplies(batch, slug);
  attempt.signals = signals;
  return toReply({ status: 200, headers: last?.headers ?? {}, body: body ?? Buffer.alloc(0) }, outbound);
}

function joinReplies(batch: Batch, provider: string): ReturnType<Batch['join']> {
  try {
    const joined = readable(provider, batch.join);
    if (joined.signals.failure) throw toUpstreamError(joined.signals.failure, { provider });
    return joined;
  } catch (error) {
    // Nothing says whose fault it was, and a retry that asked for nothing would only meet it again.
    batch.replies.clear();
    batch.bytesRead = 0;
    throw error;
  }
}

function readable<T>(provider: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ReplyFault)) throw error;
    throw new UpstreamError('upstream_error', `A reply of @${provider} cannot be read: ${error.message}`, {
      cause: error,
      provider,
    });
  }
}

const tooLarge = (provider: string, limit: number): UpstreamError =>
  new UpstreamError('reply_too_large', `The replies of @${provider} together exceed ${limit} bytes (limits.reply).`, {
    provider,
  });

const connectionsOf = ({ setup, entry }: Job): number => entry.connections ?? setup.limits.connections;

const callOf = (batch: Batch, number: number, cancellation: Cancellation): Call => ({
  number,
  body: batch.bodies[number],
  stream: false,
  cancellation,
  openReader: () => new CollectingReader(),
});

interface Answer {
  readonly result: CommittedReply | RefusedReply;
  readonly errors: UpstreamErrorContext;
  readonly record: TryRecord;
}

async function tryOnce(job: Job, call: Call): Promise<Answer> {
  const { setup, exchange, attempt, outbound, entry } = job;
  const { upstream, clock, limits } = setup;
  const { number, ...what } = call;
  const record = newTry(number, clock.now());
  attempt.tries.push(record);
  try {
    const credentials = await entry.provider.authorize({ upstreamToken: exchange.upstreamToken });
    const errors = { provider: entry.provider.slug, secrets: secretsOf(credentials) };
    const request: OutboundRequest = {
      ...what,
      origin: {
        url: outbound.origin,
        allowInsecure: entry.provider.allowInsecure,
        connections: connectionsOf(job),
      },
      method: 'POST',
      path: outbound.path,
      headers: { ...outbound.headers, ...credentials },
      timeouts: attempt.timeouts,
      deadline: attempt.deadline,
      hold: { bytes: limits.holdBytes, ms: limits.holdMs },
      maxReplyBytes: limits.reply,
      errors,
    };
    const result = await upstream.send(request, record);
    record.status = result.status;
    return { result, errors, record };
  } catch (thrown) {
    const error = atTarget(thrown, entry.provider.slug);
    record.error = error instanceof GatewayError ? error : undefined;
    record.endedAt ??= clock.now();
    throw error;
  }
}

/** Credential headers without their scheme, as an upstream might quote them. */
function secretsOf(credentials: Readonly<Record<string, string>>): string[] {
  return Object.values(credentials).map((value) => value.replace(/^(?:Bearer|Basic) /, ''));
}

function newTry(call: number, startedAt: number): TryRecord {
  return {
    call,
    startedAt,
    firstByteAt: undefined,
    firstContentAt: undefined,
    endedAt: undefined,
    status: undefined,
    error: undefined,
    resent: false,
    bytesIn: 0,
  };
}

/** Credentials that cannot be had are a failure of this target: retry and fallback may go on. */
function atTarget(thrown: unknown, slug: string): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'credentials_failed' || thrown instanceof UpstreamError)
    return thrown;
  return new UpstreamError(thrown.code, thrown.message, { cause: thrown, provider: slug });
}

/** Reply headers a client can use; everything else of the upstream stays inside (design.md, section 6). */
const FORWARDED =
  /^(?:x-ratelimit-|anthropic-ratelimit-|anthropic-priority-)|^(?:request-id|retry-after|retry-after-ms|openai-processing-ms)$/;

function toReply(result: Pick<CommittedReply, 'status' | 'headers' | 'body'>, outbound: Outbound): Reply {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(result.headers)) if (FORWARDED.test(name)) headers[name] = value;
  headers['content-type'] = outbound.contentType ?? result.headers['content-type'] ?? 'application/json';
  if (outbound.stream) headers['cache-control'] = 'no-cache';
  return { status: result.status, headers, body: result.body, stream: outbound.stream };
}

function refusal(
  result: RefusedReply,
  { decodeError }: Outbound,
  errors: UpstreamErrorContext,
  clock: Clock,
): UpstreamError {
  const failure = decodeError(result.status, result.text);
  return toUpstreamError(failure, { ...errors, retryAfterMs: readRetryAfter(result.headers, failure, clock.wall()) });
}
