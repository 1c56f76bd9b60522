import type { AddOnParts } from '../../core/add-on.ts';
import { TRACES_AT_START } from './settings/restart-only.ts';
import { checkTracesSettings } from './settings/check-traces.ts';
import { startOtel } from './start-otel.ts';

export const parts: AddOnParts = {
  checks: [checkTracesSettings],
  restartOnly: TRACES_AT_START,
  startTelemetry: startOtel,
};
