import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { RESPONSE_METRICS } from './metrics.ts';
import responses from './plugins/responses/index.ts';
import { dryResponses, openResponses } from './process.ts';
import { responsesSocket } from './responses-socket.ts';

export const parts: AddOnParts = {
  plugins: [responses],
  operations: [responsesSocket],
  metrics: RESPONSE_METRICS,
  open: openResponses,
  dry: dryResponses,
};
