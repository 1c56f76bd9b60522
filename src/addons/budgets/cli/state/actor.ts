import type { Actor } from '../../../../core/ports/entities.ts';

/** The actor of writes from the command line. */
export const ACTOR: Actor = { id: 'gatehouse-cli', role: 'operator' };
