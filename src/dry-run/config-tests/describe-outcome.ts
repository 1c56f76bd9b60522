import type { JsonObject, Loss } from '../../formats/conversation.ts';
import type { GenerationEvent } from '../../formats/events.ts';
import type { Format } from '../../formats/format.ts';
import { readSse } from '../../formats/sse/event-stream.ts';
import { lossesOf, type Attempt, type Exchange } from '../../plugin/index.ts';
import type { Settings } from '../../settings/read/load.ts';
import type { FamilySnapshot } from '../../record/metrics/aggregate.ts';
import { recordOf } from '../../record/make-record.ts';
import { parsed, type Calls, type PlacedCall } from './calls.ts';
import type { Served } from './case-gateway.ts';
import type { ClientReply } from './client.ts';
import type { AttemptOutcome, MetricOutcome, CaseOutcome, StreamOutcome } from './outcome.ts';

export interface ObservedCase {
  readonly settings: Settings;
  readonly calls: Calls;
  readonly reply: ClientReply;
  /** Undefined: node:http rejected the request before the gateway read it. */
  readonly served: Served | undefined;
  readonly wall: number;
  readonly counted: readonly MetricOutcome[];
  readonly faults: readonly string[];
}

export function describeOutcome(seen: ObservedCase): CaseOutcome {
  const { calls, reply, served, counted, faults } = seen;
  const { status, headers, text } = reply;
  return {
    attempts: served ? describeAttempts(seen, served) : [],
    calls: calls.placed.map(({ reported }) => reported),
    status,
    headers,
    text,
    stream: describeStream(reply, served?.exchange),
    dropped: [...new Set(lastLosses(served).map(({ param }) => param))],
    metrics: counted,
    faults: [...faults, ...calls.faults],
  };
}

function lastLosses(served: Served | undefined): readonly Loss[] {
  const attempt = served?.exchange.attempts.at(-1);
  return attempt ? lossesOf(attempt) : [];
}

function describeAttempts(
  { settings, calls, wall }: ObservedCase,
  { exchange, end, endedAt }: Served,
): AttemptOutcome[] {
  const record = recordOf(exchange, end ?? { state: 'running', status: 0, bytes: 0, error: undefined }, {
    endedAt,
    receivedAt: wall,
  });
  return exchange.attempts.map((attempt, index) => ({
    target: attempt.target.path,
    name: nameOf(attempt, exchange, settings),
    provider: attempt.resolved && `@${attempt.resolved.slug}`,
    outbound: calls.placed.findLast((call: PlacedCall) => call.attempt === attempt)?.reported,
    error: record.attempts[index]?.errorCode,
  }));
}

/** The target's name in the file; the compiled target has none. */
function nameOf({ target }: Attempt, { config }: Exchange, { gateway }: Settings): string | undefined {
  const file = config?.id === undefined ? undefined : gateway.get(config.id);
  let value: unknown = file;
  for (const key of target.path.match(/[^.[\]]+/g)?.slice(1) ?? []) value = (Object(value) as JsonObject)[key];
  const { name } = Object(value) as { name?: unknown };
  // The config's own name is not a target's.
  return typeof name === 'string' && value !== file ? name : undefined;
}

function describeStream(
  { headers, text, whole }: ClientReply,
  exchange: Exchange | undefined,
): StreamOutcome | undefined {
  if (!headers['content-type']?.startsWith('text/event-stream')) return undefined;
  const events = readSse(Buffer.from(text)).map(({ data }) => parsed(data));
  const { clientFormat, operation } = exchange ?? {};
  if (clientFormat && operation?.task === 'generate') return { events, ...readGeneration(clientFormat, text, whole) };
  const failed = events.some((event) => Boolean((Object(event) as { error?: unknown }).error));
  return { events, text: '', ends: failed ? 'error' : whole ? 'complete' : 'cut' };
}

/** Reads a stream as a client of the API does. */
function readGeneration(format: Format, text: string, whole: boolean): Pick<StreamOutcome, 'text' | 'ends'> {
  const decoder = format.decodeStream({ model: '', newCallId: () => 'call' });
  let events: readonly GenerationEvent[] = [];
  let failed = false;
  try {
    events = decoder.push(Buffer.from(text));
    // Checked before `end`, whose error would be the missing end itself.
    failed = events.some(({ type }) => type === 'error');
    events = [...events, ...decoder.end()];
  } catch {
    return { text, ends: 'cut' };
  }
  const complete = whole && events.some(({ type }) => type === 'end');
  return {
    text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    ends: failed ? 'error' : complete ? 'complete' : 'cut',
  };
}

/** Copies the counters, because a family's snapshot continues to change. */
export const countersOf = (families: readonly FamilySnapshot[]): readonly MetricOutcome[] =>
  families.flatMap(samplesOf);

/** The increments between two snapshots. */
export function countedBetween(before: readonly MetricOutcome[], after: readonly MetricOutcome[]): MetricOutcome[] {
  const known = new Map(before.map((sample) => [keyOf(sample), sample.value]));
  return after.flatMap((sample) => {
    const value = sample.value - (known.get(keyOf(sample)) ?? 0);
    return value > 0 ? [{ ...sample, value }] : [];
  });
}

const samplesOf = ({ name, type, values }: FamilySnapshot): MetricOutcome[] =>
  type === 'counter'
    ? // Most counters are zero.
      values
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => ({
          name,
          labels: Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, String(label)])),
          value,
        }))
    : [];

const keyOf = ({ name, labels }: MetricOutcome): string => JSON.stringify([name, Object.entries(labels)]);
