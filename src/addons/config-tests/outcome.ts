import { type CaseCall, describeCall, parsed, type Calls } from './calls.ts';
import type { GenerationEvent } from '../../formats/events.ts';
import type { Format } from '../../formats/format.ts';
import { readSse } from '../../formats/sse/event-stream.ts';
import type { Exchange } from '../../core/kernel/index.ts';
import type { FamilySnapshot } from '../../core/record/metrics/aggregate.ts';
import type { DryAttempt, DryRun } from '../../core/dry-run/dry-run.ts';
import { targetName } from '../../core/dry-run/written-config.ts';
import type { ClientReply } from './client.ts';

/** The outcome of one case, for comparison with its expectations. Contains no secret. */
export interface CaseOutcome {
  /** In order. An attempt that was rejected before sending has no `outbound`. */
  readonly attempts: readonly AttemptOutcome[];
  /** Every upstream call, in order, including retries. */
  readonly calls: readonly CaseCall[];
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Undefined when the reply is not an event stream. */
  readonly stream: StreamOutcome | undefined;
  readonly dropped: readonly string[];
  /** Calls for vectors of a semantic cache, in order. They belong to no attempt. */
  readonly embeddings: readonly CaseCall[];
  /** Counters that the case incremented, with the increments. */
  readonly metrics: readonly MetricOutcome[];
  /** Errors of the case itself: a call without an answer, an unused answer. */
  readonly faults: readonly string[];
}

export interface AttemptOutcome {
  /** `config.targets[1]` */
  readonly target: string;
  readonly name: string | undefined;
  /** `@slug`; undefined when no catalog entry was resolved. */
  readonly provider: string | undefined;
  /** The last call of the attempt. */
  readonly outbound: CaseCall | undefined;
  readonly error: string | undefined;
}

interface StreamOutcome {
  /** Data of each event, parsed if it is JSON. */
  readonly events: readonly unknown[];
  readonly text: string;
  readonly ends: 'complete' | 'error' | 'cut';
}

export interface MetricOutcome {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ObservedCase {
  /** Undefined: node:http rejected the request before the gateway read it. */
  readonly run: DryRun | undefined;
  readonly calls: Calls;
  /** The bytes that the client received: no record has them. */
  readonly reply: ClientReply;
  readonly counted: readonly MetricOutcome[];
  readonly faults: readonly string[];
}

/** The outcome of a case: a view of its dry run, beside what its client has received. */
export function describeOutcome({ run, calls, reply, counted, faults }: ObservedCase): CaseOutcome {
  const { status, headers, text } = reply;
  const last = run?.record.attempts.at(-1);
  return {
    attempts: run?.attempts.map((attempt) => describeAttempt(run, attempt)) ?? [],
    calls: calls.placed.map(describeCall),
    status,
    headers,
    text,
    stream: describeStream(reply, run?.exchange),
    dropped: [...new Set(last?.losses.map(({ param }) => param))],
    embeddings: calls.placed.filter(({ attempt }) => !run?.exchange.attempts.includes(attempt)).map(describeCall),
    metrics: counted,
    faults: [...faults, ...calls.faults],
  };
}

function describeAttempt(run: DryRun, { recorded, calls }: DryAttempt): AttemptOutcome {
  const last = calls.at(-1);
  return {
    target: recorded.target,
    name: targetName(run, recorded.target),
    provider: recorded.place && `@${recorded.place.provider}`,
    outbound: last && describeCall(last),
    error: recorded.errorCode,
  };
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
