import type { AddOn } from '../../core/commands/add-on.ts';

/** Files that callers upload. */
export const files: AddOn = {
  name: 'files',
  parts: () => import('./parts.ts'),
};
