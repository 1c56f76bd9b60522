import type { AddOn } from '../../core/commands/add-on.ts';

/** Webhooks for budgets, keys and prices. */
export const alerts: AddOn = {
  name: 'alerts',
  parts: () => import('./parts.ts'),
};
