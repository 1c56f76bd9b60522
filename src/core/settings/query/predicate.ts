import type { Query } from '../../../../schemas/types.generated.ts';
import type { ConditionInput } from '../../kernel/index.ts';
import { readQuery, unchecked, type QueryShape } from './read.ts';

type Predicate = (request: ConditionInput) => boolean;

/** Compiles a query of a conditional strategy to a predicate. A query with mistakes does not throw: the checks report them. */
export const compileQuery = (query: Query): Predicate => readQuery(query, unchecked(), PREDICATE);

export const PREDICATE: QueryShape<Predicate> = {
  level: all,
  list: (key, queries) => (key === '$and' ? all(queries) : (exchange) => queries.some((holds) => holds(exchange))),
  not: (holds) => (exchange) => !holds(exchange),
  compare({ read }, comparisons) {
    const [first, ...others] = comparisons;
    if (!first || others.length > 0)
      return (exchange) => {
        const found = read(exchange);
        return comparisons.every(({ test }) => test(found, exchange));
      };
    const { test } = first;
    return (exchange) => test(read(exchange), exchange);
  },
  never: () => () => false,
};

function all(predicates: readonly Predicate[]): Predicate {
  const [first] = predicates;
  if (first && predicates.length === 1) return first;
  return (exchange) => predicates.every((holds) => holds(exchange));
}
