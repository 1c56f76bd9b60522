import type { Query } from '../../schemas/types.generated.ts';
import { readQuery, type Predicate } from './query/read.ts';

/** A query of a conditional strategy as a predicate. What the checks would find wrong does not throw. */
export const compileQuery = (query: Query): Predicate =>
  readQuery(query, { report: undefined, tally: { operators: 0, patterns: 0 } });
