import { ModelLabels } from '../../../catalog/model-labels.ts';
import type { TargetExplanation } from '../../explanation/explanation.ts';
import { createSignals, type Signals } from '../../../formats/events.ts';
import { TASKS } from '../../../operations/tasks.ts';
import type { Attempt, Exchange, ModelTask, Reply, TryRecord } from '../../../plugin/index.ts';
import { recordOf } from '../../../record/make-record.ts';
import { countersOf } from '../../../record/metrics/record-metrics.ts';
import type { Observation, SeenAttempt } from '../observation.ts';

/**
 * The counters that a successful reply of this target would increment, computed from a record of the attempt as if it
 * had succeeded.
 */
export function describeMetrics({ exchange }: Observation, one: SeenAttempt): TargetExplanation['metrics'] {
  const answered = one.supposed ? asAnswered(exchange, one) : one.attempt;
  if (!answered.reply || answered.error) return [];
  const { startedAt, request } = exchange;
  const supposed: Exchange = {
    ...exchange,
    // The body is released once an attempt has answered.
    request: { ...request, body: undefined },
    attempts: [answered],
    skipped: [],
    reply: answered.reply,
    error: undefined,
  };
  const end = { state: 'complete', status: answered.reply.status, bytes: 0, error: undefined } as const;
  return countersOf(recordOf(supposed, end, { endedAt: startedAt, receivedAt: 0 }), new ModelLabels());
}

function asAnswered({ operation }: Exchange, { attempt, body, resolved, outbound, cache }: SeenAttempt): Attempt {
  const stream = outbound?.stream ?? false;
  const reply: Reply = { status: 200, headers: {}, body: Buffer.alloc(0), stream };
  const answered: Attempt = { ...attempt, body, resolved, error: undefined, reply };
  // A cached reply has no tries, and has the losses of the time when it was created.
  if (cache?.kept && !cache.refresh)
    return { ...answered, cache: 'hit', tries: [], signals: undefined, losses: [...cache.kept.losses] };
  return { ...answered, tries: [goodTry(attempt)], signals: goodEnd(operation?.task) };
}

const goodTry = ({ startedAt }: Attempt): TryRecord => ({
  call: 0,
  startedAt,
  sentAt: startedAt,
  firstByteAt: startedAt,
  firstContentAt: startedAt,
  endedAt: startedAt,
  status: 200,
  error: undefined,
  resent: false,
  bytesIn: 0,
});

/** Only the upstream knows the token counts: one of each kind shows which series would count. */
const goodEnd = (task: ModelTask | undefined): Signals => ({
  ...createSignals(),
  ended: true,
  usage: task && TASKS[task].reportsUsage ? { input: 1, output: 1, total: 2 } : undefined,
});
