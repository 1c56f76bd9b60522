import type { AddOnParts } from '../../core/add-on.ts';
import { openExplain } from './process.ts';

export const parts: AddOnParts = { open: openExplain };
