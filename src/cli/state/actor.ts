import type { Actor } from '../../state/entities.ts';

/** Who writes to the store from the command line. */
export const ACTOR: Actor = { id: 'gatehouse-cli', role: 'operator' };
