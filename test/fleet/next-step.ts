import { STEPS } from '../../src/addons/postgres/tables/migrations.ts';
import type { TableStep } from '../../src/core/ports/table-steps.ts';

/** The tables of the next release: one more expand step, with one more column. */
export const NEXT_STEP: TableStep = {
  number: STEPS.length + 1,
  name: 'next release',
  sql: `ALTER TABLE counter ADD COLUMN next text NOT NULL DEFAULT 'next'; ALTER TABLE lease ADD COLUMN next text;
    ALTER TABLE boot ADD COLUMN next text; ALTER TABLE ledger ADD COLUMN next text; CREATE TABLE next (a integer)`,
};
