import type { Diagnostic, FilePlace } from '../../core/settings/source/diagnostic.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';
import type { Mismatch } from './differences.ts';

/** One mismatch, with the place of its expectation. */
export interface Failure extends Omit<Mismatch, 'path'>, FilePlace {
  /** `outbound.body.max_tokens`; undefined for an error of the case itself. */
  readonly what: string | undefined;
}

export interface CaseResult {
  readonly file: string;
  readonly name: string;
  readonly place: FilePlace;
  readonly failures: readonly Failure[];
  readonly ms: number;
}

export interface TestSummary {
  readonly results: readonly CaseResult[];
  readonly notRun: number;
  readonly ms: number;
}

export type TestsEnd =
  | ({ readonly kind: 'ran' } & TestSummary)
  | { readonly kind: 'broken'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'nothing'; readonly message: string };

export const hasFailed = ({ failures }: CaseResult): boolean => failures.length > 0;

/** In common notation: `outbound.body.messages[0].role`. */
export function pathText(path: JsonPath): string | undefined {
  if (path.length === 0) return undefined;
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}

export const placeOf = ({ file, line, column }: Failure): string => `${file}:${line}:${column}`;

/** `outbound.body.max_token; did you mean "max_tokens"?` */
export function headOf({ what, message, suggestion }: Failure): string {
  const head = [what, message].filter((one) => one !== undefined).join(': ');
  return suggestion === undefined ? head : `${head}; did you mean "${suggestion}"?`;
}

/** The expected and actual values that exist. */
export const diffOf = ({ expected, got }: Failure): readonly (readonly [word: 'expected' | 'got', text: string])[] => [
  ...(expected === undefined ? [] : [['expected', expected] as const]),
  ...(got === undefined ? [] : [['got', got] as const]),
];
