import { SILENCES } from './scenarios.ts';
import { describeTable } from './table.testkit.ts';

/** Upstreams that say nothing, or break off before their first content: nothing has reached the client yet. */
describeTable(SILENCES);
