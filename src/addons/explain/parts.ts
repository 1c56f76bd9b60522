import type { AddOnParts } from '../../core/add-on.ts';
import { openExplain } from './process.ts';
import { checkExplainId } from './settings/check-explain-id.ts';

export const parts: AddOnParts = { checks: [checkExplainId], open: openExplain };
