import type { Query } from '../../../schemas/types.generated.ts';
import { ANSWERS, type Answers } from '../query/answers.ts';
import { PREDICATE, type Predicate } from '../query/predicate.ts';
import { readQuery, type Reading } from '../query/read.ts';

const unchecked = (): Reading => ({ report: undefined, tally: { operators: 0, patterns: 0 } });

/** A query of a conditional strategy as a predicate. What the checks would find wrong does not throw. */
export const compileQuery = (query: Query): Predicate => readQuery(query, unchecked(), PREDICATE);

/** The same query, comparison by comparison. */
export const explainQuery = (query: Query): Answers => readQuery(query, unchecked(), ANSWERS);
