import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { SHARED_METRICS } from './engine/metrics.ts';
import { openShared } from './process.ts';
import { checkShared, SHARED_AT_START } from './settings/shared.ts';

export const parts: AddOnParts = {
  checks: [checkShared],
  restartOnly: SHARED_AT_START,
  metrics: SHARED_METRICS,
  open: openShared,
  examine: async (server, tools) => (await import('./examine.ts')).examineShared(server, tools),
};
