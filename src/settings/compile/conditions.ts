import type { Query } from '../../../schemas/types.generated.ts';
import { ANSWERS, type ComparisonAnswers } from '../query/answers.ts';
import { PREDICATE, type Predicate } from '../query/predicate.ts';
import { readQuery, type QueryReading } from '../query/read.ts';

const unchecked = (): QueryReading => ({ report: undefined, tally: { operators: 0, patterns: 0 } });

/** Compiles a query of a conditional strategy to a predicate. A query with mistakes does not throw: the checks report them. */
export const compileQuery = (query: Query): Predicate => readQuery(query, unchecked(), PREDICATE);

/** Evaluates the same query comparison by comparison. */
export const explainQuery = (query: Query): ComparisonAnswers => readQuery(query, unchecked(), ANSWERS);
