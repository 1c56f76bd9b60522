import type { Query } from '../../../../../schemas/types.generated.ts';
import { unlessRefused } from '../../../../core/kernel/errors.ts';
import type { ConditionInput } from '../../../../core/kernel/index.ts';
import type { JsonPath } from '../../../../core/settings/schema/pointer.ts';
import { readQuery, unchecked, type Comparison, type QueryShape } from '../../../../core/settings/query/read.ts';
import type { Field } from '../../../../core/settings/query/fields.ts';

/** One comparison of a query with a request, or several under `$and`, `$or`, `$not`. */
export interface ComparisonAnswer {
  readonly path: JsonPath;
  /** `metadata.tier`, or `$and`. */
  readonly field: string;
  readonly operator: string | undefined;
  readonly wanted: unknown;
  /** Undefined where the request does not have the field. */
  readonly found: unknown;
  /** Undefined: the text is too long for the pattern; a request that reaches this comparison is refused. */
  readonly holds: boolean | undefined;
  readonly inner: readonly ComparisonAnswer[] | undefined;
}

/** The comparisons of a query, which holds when all of them do. */
type ComparisonAnswers = (request: ConditionInput) => readonly ComparisonAnswer[];

export const explainQuery = (query: Query): ComparisonAnswers => readQuery(query, unchecked(), ANSWERS);

/** Evaluates a query for explain, including comparisons that short-circuit evaluation would skip. */
const ANSWERS: QueryShape<ComparisonAnswers> = {
  level: (parts) => (exchange) => parts.flatMap((part) => part(exchange)),
  list: (key, queries, path) => (exchange) => {
    const inner = queries.map((query, index) => together(query(exchange), [...path, index]));
    return [logical(key, path, inner)];
  },
  not: (query, path) => (exchange) => [logical('$not', path, query(exchange))],
  compare: (field, comparisons) => (exchange) => {
    const found = field.read(exchange);
    return comparisons.map((comparison) => compare(field, comparison, found));
  },
  never: (path) => () => [logical('$and', path, [], false)],
};

function compare({ name }: Field, { operator, wanted, test, path }: Comparison, found: unknown): ComparisonAnswer {
  // A separate account: explain must not add to the pattern cost of the request.
  const holds = unlessRefused(() => test(found, {}));
  return { path, field: name, operator, wanted, found, holds, inner: undefined };
}

function together(answers: readonly ComparisonAnswer[], path: JsonPath): ComparisonAnswer {
  const [first, ...others] = answers;
  return first && others.length === 0 ? first : logical('$and', path, answers);
}

const logical = (
  field: '$and' | '$or' | '$not',
  path: JsonPath,
  inner: readonly ComparisonAnswer[],
  holds: boolean | undefined = HOLDS[field](inner),
): ComparisonAnswer => ({ path, field, operator: undefined, wanted: undefined, found: undefined, holds, inner });

/** Combines answers as short-circuit evaluation does: the first decisive answer, or the first refusal, is the result. */
export const allHold = (answers: readonly ComparisonAnswer[]): boolean | undefined => decide(answers, false);

const HOLDS = {
  $and: allHold,
  $or: (answers: readonly ComparisonAnswer[]) => decide(answers, true),
  $not(answers: readonly ComparisonAnswer[]) {
    const holds = allHold(answers);
    return holds === undefined ? undefined : !holds;
  },
};

function decide(answers: readonly ComparisonAnswer[], decisive: boolean): boolean | undefined {
  const first = answers.find(({ holds }) => holds !== !decisive);
  return first ? first.holds : !decisive;
}
