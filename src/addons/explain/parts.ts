import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openExplain } from './process.ts';

export const parts: AddOnParts = { open: openExplain };
