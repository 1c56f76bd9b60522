import type { JsonPath } from '../read/pointer.ts';
import type { Field } from './fields.ts';
import type { Test } from './operators.ts';

/** Builds a result from the parts of a query while it is read. Paths are within the query. */
export interface QueryShape<T> {
  /** The parts of one object, which must all hold. */
  level(parts: readonly T[]): T;
  list(key: '$and' | '$or', queries: readonly T[], path: JsonPath): T;
  not(query: T, path: JsonPath): T;
  /** @param comparisons the comparisons of one field, which must all hold */
  compare(field: Field, comparisons: readonly Comparison[]): T;
  /** The result for a mistake. */
  never(path: JsonPath): T;
}

export interface Comparison {
  /** `$eq` for a bare value. */
  readonly operator: string;
  /** The operand in the query. */
  readonly wanted: unknown;
  readonly test: Test;
  readonly path: JsonPath;
}
