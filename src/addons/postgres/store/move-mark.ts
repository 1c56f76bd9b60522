import { StateFailure } from '../../../core/ports/failures.ts';
import type { StoreTools } from '../connect/store-tools.ts';

/** A row of `sequence`, from the begin of a move to this store until its end. */
export const MOVING = 'moving';

/** A store that has the half of another one serves no gateway: budgets that were spent would be full again. */
export async function refuseHalf({ reads }: Pick<StoreTools, 'reads'>): Promise<void> {
  const [found] = await reads.one(`SELECT 1 FROM sequence WHERE name = '${MOVING}'`);
  if (found)
    throw new StateFailure(
      'invalid',
      'another store is on its way to this one: run `gatehouse state migrate --to postgres` again, until it has ended',
    );
}
