import type { CatalogEntry } from '../catalog/catalog.ts';
import { entryOf } from '../catalog/catalog-target.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import {
  GatewayError,
  UpstreamError,
  type Attempt,
  type Clock,
  type Exchange,
  type Outbound,
  type Reply,
  type Sender,
  type TryRecord,
} from '../plugin/index.ts';
import type { CommittedReply, OutboundRequest, RefusedReply, Upstream } from '../upstream/types.ts';
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
      let answer = await tryOnce(job);
      // A token can be revoked before it expires: one fresh one is worth a try (wire.md C11), then the refusal stands.
      if (!answer.result.ok && answer.result.status === 401 && entry.provider.forgetCredentials?.())
        answer = await tryOnce(job);
      const { result, errors } = answer;
      if (result.ok) return toReply(result, outbound);
      const error = refusal(result, outbound, errors, setup.clock);
      attempt.tries.at(-1)!.error = error;
      throw error;
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

interface Answer {
  readonly result: CommittedReply | RefusedReply;
  readonly errors: UpstreamErrorContext;
}

async function tryOnce({ setup, exchange, attempt, outbound, entry }: Job): Promise<Answer> {
  const { upstream, clock, limits } = setup;
  const record = newTry(clock.now());
  attempt.tries.push(record);
  try {
    const credentials = await entry.provider.authorize({ upstreamToken: exchange.upstreamToken });
    const errors = { provider: entry.provider.slug, secrets: secretsOf(credentials) };
    const request: OutboundRequest = {
      origin: {
        url: outbound.origin,
        allowInsecure: entry.provider.allowInsecure,
        connections: entry.connections ?? limits.connections,
      },
      method: 'POST',
      path: outbound.path,
      headers: { ...outbound.headers, ...credentials },
      body: outbound.body,
      stream: outbound.stream,
      timeouts: attempt.timeouts,
      deadline: attempt.deadline,
      hold: { bytes: limits.holdBytes, ms: limits.holdMs },
      maxReplyBytes: limits.reply,
      cancellation: attempt.cancellation,
      errors,
      openReader: (reply) => {
        const reader = outbound.openReader(reply);
        attempt.signals = reader.signals;
        return reader;
      },
    };
    const result = await upstream.send(request, record);
    record.status = result.status;
    return { result, errors };
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

function newTry(startedAt: number): TryRecord {
  return {
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

function toReply(result: CommittedReply, outbound: Outbound): Reply {
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
