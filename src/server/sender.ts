import type { CatalogEntry } from '../catalog/catalog.ts';
import { entryOf } from '../catalog/catalog-target.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { ReplyFault } from '../formats/format.ts';
import {
  Cancellation,
  GatewayError,
  toGatewayError,
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

/** All calls, so many at once; the first that fails ends the others. What has been answered stays for a retry. */
async function sendBatch(job: Job, batch: Batch): Promise<Reply> {
  const { attempt, outbound, entry } = job;
  const group = new Cancellation();
  const stopListening = attempt.cancellation.onCancel((reason) => group.cancel(reason));
  const missing = batch.bodies.keys().filter((number) => !batch.replies.has(number));
  let last: CommittedReply | undefined;
  const work = async (): Promise<void> => {
    // Workers share the iterator: each takes the next call that nobody has.
    for (const number of missing) {
      if (group.reason) throw group.reason;
      last = await ask(job, callOf(batch, number, group));
      batch.replies.set(number, await readWhole(last.body, group));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(batch.parallel, batch.bodies.length) }, work));
  } catch (error) {
    group.cancel(toGatewayError(error));
    throw error;
  } finally {
    stopListening();
  }
  const { body, signals } = readTogether(batch, entry.provider.slug);
  attempt.signals = signals;
  if (signals.failure) throw toUpstreamError(signals.failure, { provider: entry.provider.slug });
  return toReply({ status: 200, headers: last?.headers ?? {}, body: body ?? Buffer.alloc(0) }, outbound);
}

function readTogether(batch: Batch, provider: string): ReturnType<Batch['join']> {
  try {
    return batch.join();
  } catch (error) {
    if (!(error instanceof ReplyFault)) throw error;
    throw new UpstreamError('upstream_error', `The replies of @${provider} cannot be read: ${error.message}`, {
      cause: error,
      provider,
    });
  }
}

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

async function tryOnce({ setup, exchange, attempt, outbound, entry }: Job, call: Call): Promise<Answer> {
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
        connections: entry.connections ?? limits.connections,
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
