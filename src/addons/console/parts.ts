import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openConsole } from './process.ts';

export const parts: AddOnParts = { open: openConsole };
