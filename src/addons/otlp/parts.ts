import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { checkTracesSettings, TRACES_AT_START } from './settings/traces.ts';
import { startOtel } from './start-otel.ts';

export const parts: AddOnParts = {
  checks: [checkTracesSettings],
  restartOnly: TRACES_AT_START,
  startTelemetry: startOtel,
};
