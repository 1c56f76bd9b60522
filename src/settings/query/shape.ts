import type { JsonPath } from '../read/pointer.ts';
import type { Field } from './fields.ts';
import type { Test } from './operators.ts';

/** What a query is made into while it is read. Paths are within the query. */
export interface QueryShape<T> {
  /** What stands in one object: all of it holds. */
  level(parts: readonly T[]): T;
  list(key: '$and' | '$or', queries: readonly T[], path: JsonPath): T;
  not(query: T, path: JsonPath): T;
  /** @param comparisons of one field: all of them hold */
  compare(field: Field, comparisons: readonly Comparison[]): T;
  /** In the place of a mistake. */
  never(path: JsonPath): T;
}

export interface Comparison {
  /** `$eq` where none is written. */
  readonly operator: string;
  /** As the query writes it. */
  readonly wanted: unknown;
  readonly test: Test;
  readonly path: JsonPath;
}
