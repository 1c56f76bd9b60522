import { REFUSALS } from './scenarios.ts';
import { describeTable } from './table.testkit.ts';

/** Answers that are of no use: retry and fallback can cure them, or must not try. */
describeTable(REFUSALS);
