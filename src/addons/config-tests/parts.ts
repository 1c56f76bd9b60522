import type { AddOnParts } from '../../core/add-on.ts';
import { validateTests } from './check-tests.ts';

export const parts: AddOnParts = {
  passes: [validateTests],
};
