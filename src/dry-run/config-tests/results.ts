import type { Diagnostic, FilePlace } from '../../settings/problems/diagnostic.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import type { Mismatch } from './differences.ts';

/** One thing that was not as expected, at the place where it was expected. */
export interface Failure extends Omit<Mismatch, 'path'>, FilePlace {
  /** `outbound.body.max_tokens`; undefined: the case itself is wrong. */
  readonly what: string | undefined;
}

export interface CaseResult {
  /** Path of the file, as people would open it. */
  readonly file: string;
  readonly name: string;
  readonly place: FilePlace;
  /** Empty: it has passed. */
  readonly failures: readonly Failure[];
  readonly ms: number;
}

/** What came of all cases that were asked for. */
export interface TestSummary {
  readonly results: readonly CaseResult[];
  /** Left out after a failure. */
  readonly notRun: number;
  readonly ms: number;
}

export type TestsEnd =
  | ({ readonly kind: 'ran' } & TestSummary)
  /** The settings or the tests have mistakes. */
  | { readonly kind: 'broken'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'nothing'; readonly message: string };

export const hasFailed = ({ failures }: CaseResult): boolean => failures.length > 0;

/** As people write it: `outbound.body.messages[0].role`. */
export function pathText(path: JsonPath): string | undefined {
  if (path.length === 0) return undefined;
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}
