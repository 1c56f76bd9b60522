import type { AddOn } from '../../core/commands/add-on.ts';

/** The console: the page of the listener for operators, and what it shows. */
export const consoleOfOperators: AddOn = {
  name: 'console',
  threads: ['src/addons/console/records/thread'],
  parts: () => import('./parts.ts'),
};
