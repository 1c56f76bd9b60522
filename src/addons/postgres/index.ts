import type { AddOn } from '../../core/commands/add-on.ts';

/** A state store in PostgreSQL, which several gateways share. */
export const postgres: AddOn = {
  name: 'postgres',
  parts: () => import('./parts.ts'),
};
