import { CHAT_PARAMETERS, MESSAGES_PARAMETERS } from '../../../formats/fields/parameter-names.ts';
import { REPLY_LOSSES } from '../../../formats/losses/reply-losses.ts';
import type { CacheStatus } from '../../../plugin/index.ts';
import { RECORD_DROP_REASONS } from '../files/record-files.ts';
import { DROP_REASONS } from '../log/line-writer.ts';
import type { RecordedAttempt, RecordedTry } from '../record.ts';
import {
  DURATION_BUCKETS,
  each,
  MODEL_LABELS,
  modelOf,
  OTHER,
  PER_TOKEN_BUCKETS,
  metric,
  type Note,
} from './metric-spec.ts';
import { USAGE_METRICS } from './usage-metrics.ts';

const REPLY_PARAMS: ReadonlySet<string> = new Set(REPLY_LOSSES);

const topLevel = (path: string): string => /^[^.[:]*/.exec(path)![0];

/** Top-level fields besides those of chat completions and messages, with the gateway's additions. */
const OTHER_PARAMS = {
  chat: ['generation_config'],
  headers: ['anthropic-beta'],
  images: ['background', 'output_compression', 'partial_images', 'quality', 'size', 'style'],
  embeddings: ['auto_truncate', 'dimensions', 'encoding_format', 'input', 'input_type', 'task_type', 'title'],
};

/** A loss may concern any field that a caller invents; only these become label values. */
const KNOWN_PARAMS: ReadonlySet<string> = new Set([
  ...[...CHAT_PARAMETERS, ...MESSAGES_PARAMETERS].map(topLevel),
  ...Object.values(OTHER_PARAMS).flat(),
]);

/** `messages[2].content[0]` → `messages`, `anthropic-beta: NAME` → `anthropic-beta`; unknown fields → undefined. */
export function knownParam(path: string): string | undefined {
  if (REPLY_PARAMS.has(path)) return path;
  const name = topLevel(path);
  return KNOWN_PARAMS.has(name) ? name : undefined;
}

/** Results of a cache that compares exactly. */
const EXACT_RESULTS: readonly CacheStatus[] = ['hit', 'shared', 'miss', 'refresh', 'bypass'];
const CACHE_RESULTS: readonly CacheStatus[] = [...EXACT_RESULTS, 'semantic_hit'];

/** Of a stream that was the answer, and completed: the time from its first content to its end, by tokens after the first. */
export function secondsPerToken({
  answered,
  firstContentMs,
  tries,
  usage,
  outcome,
}: RecordedAttempt): number | undefined {
  const last = tries.at(-1);
  const more = (usage?.output ?? 0) - 1;
  if (!answered || firstContentMs === undefined || !last || outcome !== 'success' || more < 1) return undefined;
  return (last.durationMs - firstContentMs) / 1000 / more;
}

/** The calls of an attempt are retried one by one. */
export function noteRetries(tries: readonly RecordedTry[], provider: string, note: Note<'provider' | 'reason'>): void {
  const last = new Map<number, RecordedTry>();
  for (const record of tries) {
    const { call, resent } = record;
    if (resent) note({ provider, reason: 'stale_connection' });
    const before = last.get(call);
    last.set(call, record);
    // A call that ended with the failure of another call is sent again with it. It did not fail itself.
    if (before && before.outcome !== 'aborted') note({ provider, reason: before.errorType });
  }
}

export const UPSTREAM_METRICS = {
  upstreamAttempts: metric({
    name: 'gatehouse_upstream_attempts_total',
    help: 'Attempts at a target, each including its retries, by outcome: success, error, aborted (the client disconnected, or the gateway ended it: its drain, a client that did not read). error_type is empty on success.',
    labels: [...MODEL_LABELS, 'outcome', 'error_type'],
    byCaller: true,
    ofAttempt: {
      labels: (attempt) => ({ ...modelOf(attempt), outcome: attempt.outcome, error_type: attempt.errorType }),
      counts: 'counted',
    },
  }),
  upstreamFailures: metric({
    name: 'gatehouse_upstream_failures_total',
    help: 'Attempts that failed, by catalog entry and the kind of the failure, as in on_errors. A failure of two kinds counts as the first, more exact one. Without labels of models, so that every series exists at 0 from the start (for the first 99 entries).',
    labels: ['provider', 'kind'],
    ofAttempt: {
      labels: ({ provider, failureKind }) => ({ provider, kind: failureKind ?? '' }),
      value: ({ failure }) => (failure?.kinds[0] === undefined ? undefined : 1),
    },
  }),
  upstreamDuration: metric({
    name: 'gatehouse_upstream_request_duration_seconds',
    help: 'From the start of one physical try until the end of its reply.',
    labels: [...MODEL_LABELS, 'outcome'],
    buckets: DURATION_BUCKETS,
    exemplars: true,
    ofTry: {
      labels: ({ outcome, ...labels }) => ({ ...modelOf(labels), outcome }),
      value: ({ durationMs }) => durationMs / 1000,
    },
  }),
  upstreamFirstChunk: metric({
    name: 'gatehouse_upstream_time_to_first_chunk_seconds',
    help: 'Streams: from the start of the try that answered until its first content. Pings do not count.',
    labels: MODEL_LABELS,
    buckets: DURATION_BUCKETS,
    exemplars: true,
    ofAttempt: {
      labels: modelOf,
      // From the start of the last try until the first content of a stream that was the answer.
      value: ({ stream, answered, firstContentMs, tries }) =>
        stream && answered && firstContentMs !== undefined && tries.length > 0 ? firstContentMs / 1000 : undefined,
    },
  }),
  upstreamPerToken: metric({
    name: 'gatehouse_upstream_time_per_output_token_seconds',
    help: 'Streams that completed: time from first content to the end, divided by output tokens after the first. One sample per request.',
    labels: MODEL_LABELS,
    buckets: PER_TOKEN_BUCKETS,
    ofAttempt: {
      labels: modelOf,
      value: (attempt) => (attempt.stream ? secondsPerToken(attempt) : undefined),
    },
  }),
  poolWait: metric({
    name: 'gatehouse_upstream_pool_wait_seconds',
    help: 'Time that attempts waited for a free connection to their upstream because all `connections` were in use, whatever the outcome. Attempts that got one at once are not observed.',
    labels: ['provider'],
    buckets: DURATION_BUCKETS,
    ofTry: {
      labels: ({ provider }) => ({ provider }),
      value: ({ inLineMs }) => (inLineMs === undefined ? undefined : inLineMs / 1000),
    },
  }),
  poolWaiting: metric({
    name: 'gatehouse_upstream_pool_waiting',
    help: 'Requests that currently wait because all `connections` to their upstream are in use.',
    zero: [{}],
  }),
  upstreamRetries: metric({
    name: 'gatehouse_upstream_retries_total',
    help: 'Tries after the first of an attempt, by the error_type that caused them; stale_connection: sent again because a kept-alive connection had died.',
    labels: ['provider', 'reason'],
    countAttempt: ({ tries }, { provider }, note) => {
      if (tries.length !== 1 || tries[0]!.resent) noteRetries(tries, provider, note);
    },
  }),
  fallbacks: metric({
    name: 'gatehouse_fallbacks_total',
    help: 'Attempts that followed a failed one, by catalog slug of both and the error_type of the failure.',
    labels: ['from_target', 'to_target', 'reason'],
    ofRequest: ({ attempts }, note) => {
      for (let index = 1; index < attempts.length; index += 1) {
        const [before, attempt] = [attempts[index - 1]!, attempts[index]!];
        // Without a slug there is only the provider name of the request, which a caller writes freely.
        const [from_target, to_target] = [before.place?.provider ?? '', attempt.place?.provider ?? ''];
        note({ from_target, to_target, reason: before.errorType });
      }
    },
  }),
  targetHealthy: metric({
    name: 'gatehouse_upstream_target_healthy',
    help: 'Targets of gateway configs by their path: 0 from when one fails too often (circuit_breaker, or its defaults) until it answers again, else 1. provider: as in the config, without @; empty when the request names it. target_name: empty without a name in the config.',
    labels: ['config', 'target', 'target_name', 'provider'],
    aggregator: 'min',
  }),
  breakerTransitions: metric({
    name: 'gatehouse_circuit_breaker_transitions_total',
    help: 'Circuit breakers of gateway configs that became open, half_open (a request was sent to probe the target) or closed.',
    labels: ['config', 'target', 'target_name', 'to'],
  }),
  ...USAGE_METRICS,
  paramsLost: metric({
    name: 'gatehouse_params_lost_total',
    help: 'Parts of requests that a target cannot express, by top-level field, and parts of replies that the API of the client cannot express (`reply.audio`, …), by action: dropped, clamped, downgraded.',
    labels: ['provider', 'param', 'action'],
    ofRequest: ({ attempts }, note) => {
      for (const { place, losses } of attempts)
        for (const { param, action, count } of losses)
          note({ provider: place?.provider ?? '', param: knownParam(param) ?? OTHER, action }, count);
    },
  }),
  cacheRequests: metric({
    name: 'gatehouse_cache_requests_total',
    help: 'Attempts at targets with a cache, by mode (exact, semantic) and result: hit, semantic_hit (the reply to a near text), shared (waited for an identical request in flight), miss, refresh (the caller forced a new reply), bypass (the request cannot be answered from a cache).',
    labels: ['mode', 'result'],
    zero: [
      ...each('result', EXACT_RESULTS).map((labels) => ({ mode: 'exact', ...labels })),
      ...each('result', CACHE_RESULTS).map((labels) => ({ mode: 'semantic', ...labels })),
    ],
    ofRequest: ({ attempts }, note) => {
      for (const { cache, cacheMode: mode } of attempts) if (cache) note({ mode, result: cache });
    },
  }),
  cacheEmbeddings: metric({
    name: 'gatehouse_cache_embeddings_total',
    help: 'Calls for vectors of semantic caches, by the catalog entry that was called and result: success, late (`cache.timeout` passed), failed. A late or failed call is a miss of the cache.',
    labels: ['provider', 'result'],
    countAttempt: ({ semantic }, _, note) => {
      if (semantic?.embedding) note({ provider: semantic.embedding.provider, result: semantic.embedding.result });
    },
  }),
  cacheEntries: metric({
    name: 'gatehouse_cache_entries',
    help: 'Replies in the cache, including expired ones that were not looked up since.',
    zero: [{}],
  }),
  cacheSize: metric({
    name: 'gatehouse_cache_size_bytes',
    help: 'Memory that the cache counts for its replies; cache.max_bytes bounds it.',
    zero: [{}],
  }),
  cacheEvictions: metric({
    name: 'gatehouse_cache_evictions_total',
    help: 'Unexpired replies that were evicted to make room for others.',
    zero: [{}],
  }),
  tokenRefreshes: metric({
    name: 'gatehouse_oauth_token_refreshes_total',
    help: 'Exchanges of credentials for an access token, by result: success, failure.',
    labels: ['provider', 'result'],
  }),
  logLinesDropped: metric({
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Lines of the log that could not be written, by reason: no_space (the disk is full), stalled (standard output is not read, and 1 MiB of lines waits), closed (its reader has closed it), error. Requests are still served.',
    labels: ['reason'],
    zero: each('reason', DROP_REASONS),
  }),
  recordsDropped: metric({
    name: 'gatehouse_records_dropped_total',
    help: 'Records that are in no file of telemetry.records or state.records, by reason: no_space (the disk is full), stalled (it is too slow, and 4 MiB of records wait, 16 of state.records), error. Requests are still served.',
    labels: ['reason'],
    zero: each('reason', RECORD_DROP_REASONS),
  }),
  labelOverflow: metric({
    name: 'gatehouse_metric_label_overflow_total',
    help: 'Values recorded under __other__ (gauges: not recorded) because the metric has its maximum number of label sets.',
    labels: ['metric'],
  }),
};
