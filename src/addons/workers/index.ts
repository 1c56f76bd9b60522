import type { AddOn } from '../../core/commands/add-on.ts';

/** Several processes that serve together: `gatehouse serve --workers`. */
export const workers: AddOn = {
  name: 'workers',
  parts: () => import('./parts.ts'),
};
