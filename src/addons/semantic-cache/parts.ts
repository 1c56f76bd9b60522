import type { AddOnParts } from '../../core/add-on.ts';

export const parts: AddOnParts = {};
