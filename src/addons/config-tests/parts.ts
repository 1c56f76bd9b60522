import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { validateTests } from './check-tests.ts';

export const parts: AddOnParts = {
  passes: [validateTests],
};
