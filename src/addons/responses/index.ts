import type { AddOn } from '../../core/commands/add-on.ts';

/** Responses that are kept for later requests, and their WebSocket. */
export const responses: AddOn = {
  name: 'responses',
  parts: () => import('./parts.ts'),
};
