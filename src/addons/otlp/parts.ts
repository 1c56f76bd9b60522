import type { AddOnParts } from '../../core/add-on.ts';
import { startOtel } from './start-otel.ts';

export const parts: AddOnParts = { startTelemetry: startOtel };
