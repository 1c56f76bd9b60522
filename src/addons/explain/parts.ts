import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openExplain } from './process.ts';
import { checkExplainId } from './settings/check-explain-id.ts';

export const parts: AddOnParts = {
  checks: [checkExplainId],
  open: openExplain,
  jobs: {
    // A gateway that serves does not load it.
    async *effect(input) {
      yield* (await import('./effect/job.ts')).effectJob(input);
    },
  },
};
