import type { AddOnParts } from '../../core/add-on.ts';
import { openAlerts } from './process.ts';
import { checkAlerts } from './settings/checks-alerts.ts';

export const parts: AddOnParts = { checks: [checkAlerts], open: openAlerts };
