import type { AddOn } from '../../core/commands/add-on.ts';

/** State that several gateways share in Valkey or Redis, and may lose. */
export const valkey: AddOn = {
  name: 'valkey',
  parts: () => import('./parts.ts'),
};
