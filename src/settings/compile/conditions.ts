import type { Query } from '../../../schemas/types.generated.ts';
import { ANSWERS, type ComparisonAnswers } from '../query/answers.ts';
import { PREDICATE, type Predicate } from '../query/predicate.ts';
import { readQuery, type QueryReading } from '../query/read.ts';

const unchecked = (): QueryReading => ({ report: undefined, tally: { operators: 0, patterns: 0 } });

/** A query of a conditional strategy as a predicate. What the checks would find wrong does not throw. */
export const compileQuery = (query: Query): Predicate => readQuery(query, unchecked(), PREDICATE);

/** The same query, comparison by comparison. */
export const explainQuery = (query: Query): ComparisonAnswers => readQuery(query, unchecked(), ANSWERS);
