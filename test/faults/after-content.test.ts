import { AFTER_CONTENT } from './scenarios.ts';
import { describeTable } from './table.testkit.ts';

/** Faults of a stream whose first words have reached the client: exactly one end, unless the config holds the whole answer. */
describeTable(AFTER_CONTENT);
