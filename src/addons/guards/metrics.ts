import { metric } from '../../core/record/metrics/metric-spec.ts';

export const GUARD_METRICS = {
  guardVerdicts: metric({
    name: 'gatehouse_guard_verdicts_total',
    help: 'Decisions of guards, by guard, on (input, output), action and verdict: pass, denied, masked, observed, error (the check failed and the request was refused), skipped (it failed or did not run, and the request went on), unseen (it cannot read a part).',
    labels: ['guard', 'on', 'action', 'verdict'],
    ofRequest: ({ guards }, note) => {
      for (const { guard, on, action, verdict } of guards) note({ guard, on, action, verdict });
    },
  }),
  guardHold: metric({
    name: 'gatehouse_guard_hold_seconds',
    help: 'The longest wait of an event of a streamed reply for the decision of a guard. Streams in which none has waited are not observed.',
    labels: ['guard'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    ofRequest({ guards }, note) {
      for (const { guard, heldMs } of guards) if (heldMs !== undefined) note({ guard }, heldMs / 1000);
    },
  }),
};
