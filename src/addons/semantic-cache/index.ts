import type { AddOn } from '../../core/commands/add-on.ts';

/** Replies to requests that mean the same. */
export const semanticCache: AddOn = {
  name: 'semantic-cache',
  parts: () => import('./parts.ts'),
};
