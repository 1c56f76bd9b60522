import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { ALERT_METRICS } from './metrics.ts';
import { openAlerts } from './process.ts';
import { checkAlerts } from './settings/compile-alerts.ts';

export const parts: AddOnParts = { checks: [checkAlerts], metrics: ALERT_METRICS, open: openAlerts };
