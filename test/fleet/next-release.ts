/** Makes the gateway of its process that of the next release: this build with one more step of the tables, and one more column. */
import { STEPS } from '../../src/addons/postgres/tables/migrations.ts';
import type { TableStep } from '../../src/core/ports/table-steps.ts';

(STEPS as TableStep[]).push({
  number: STEPS.length + 1,
  name: 'next release',
  sql: `ALTER TABLE counter ADD COLUMN next text NOT NULL DEFAULT 'next'; ALTER TABLE lease ADD COLUMN next text;
    ALTER TABLE boot ADD COLUMN next text; ALTER TABLE ledger ADD COLUMN next text; CREATE TABLE next (a integer)`,
});
