import type { AddOnParts } from '../../core/add-on.ts';
import { checkTracesSettings } from './settings/check-traces.ts';

export const parts: AddOnParts = { checks: [checkTracesSettings] };
