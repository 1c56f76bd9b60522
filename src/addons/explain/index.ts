import type { AddOn } from '../../core/commands/add-on.ts';
import { explainCommands } from './cli/commands.ts';

/** Explanations of requests, by `gatehouse explain` and the admin API. */
export const explain: AddOn = {
  name: 'explain',
  commands: explainCommands,
  parts: () => import('./parts.ts'),
};
