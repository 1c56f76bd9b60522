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
};
