import type { GuardVerdict } from '../../core/kernel/index.ts';
import { metric } from '../../core/record/metrics/metric-spec.ts';
import { familiesOf, type Families } from '../../core/record/metrics/metrics.ts';

// Counted by the guards, so that a request without one costs no call.
export const GUARD_METRICS = {
  guardVerdicts: metric({
    name: 'gatehouse_guard_verdicts_total',
    help: 'Decisions of guards, by guard, on (input, output), action and verdict: pass, denied, masked, observed, error (the check failed and the request was refused), skipped (it failed or did not run, and the request went on), unseen (it cannot read a part).',
    labels: ['guard', 'on', 'action', 'verdict'],
  }),
  guardHold: metric({
    name: 'gatehouse_guard_hold_seconds',
    help: 'The longest wait of an event of a streamed reply for the decision of a guard. Streams in which none has waited are not observed.',
    labels: ['guard'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  }),
};

export function countVerdicts(families: Families): (verdicts: readonly GuardVerdict[]) => void {
  const { guardVerdicts, guardHold } = familiesOf(families, GUARD_METRICS);
  return (verdicts) => {
    for (const { guard, on, action, verdict, heldMs } of verdicts) {
      guardVerdicts.add({ guard, on, action, verdict });
      if (heldMs !== undefined) guardHold.add({ guard }, heldMs / 1000);
    }
  };
}
