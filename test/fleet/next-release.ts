/** Makes the gateway of its process that of the next release: this build with one more step of the tables, and one more column. */
import { STEPS } from '../../src/addons/postgres/tables/migrations.ts';
import type { TableStep } from '../../src/core/ports/table-steps.ts';
import { NEXT_STEP } from './next-step.ts';

(STEPS as TableStep[]).push(NEXT_STEP);
