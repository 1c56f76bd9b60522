import type { AddOn } from '../../core/commands/add-on.ts';

/** Checks of the texts of requests and replies: `guards` of server.yaml, keys, configs and targets. */
export const guards: AddOn = {
  name: 'guards',
  parts: () => import('./parts.ts'),
};
