import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { startOtel } from './start-otel.ts';

export const parts: AddOnParts = { startTelemetry: startOtel };
