import type { Actor } from '../../store/entities.ts';

/** The actor of writes from the command line. */
export const ACTOR: Actor = { id: 'gatehouse-cli', role: 'operator' };
