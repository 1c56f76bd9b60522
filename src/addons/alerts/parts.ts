import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openAlerts } from './process.ts';
import { checkAlerts } from './settings/compile-alerts.ts';

export const parts: AddOnParts = { checks: [checkAlerts], open: openAlerts };
