import type { AddOn } from '../../core/commands/add-on.ts';

/** A service of the operator's decides who the caller is. */
export const authCall: AddOn = {
  name: 'auth-call',
  parts: () => import('./parts.ts'),
};
