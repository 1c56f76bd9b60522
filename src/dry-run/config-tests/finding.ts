import type { Diagnostic } from '../../settings/problems/diagnostic.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';

/** A mistake in one case of a test file. */
export interface CaseFinding {
  /** Within the case. */
  readonly path: JsonPath;
  readonly message: string;
  readonly on?: 'key';
  readonly severity?: Diagnostic['severity'];
  readonly suggestion?: string;
}
