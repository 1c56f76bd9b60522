import type { Diagnostic } from '../../settings/problems/diagnostic.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';

/** An error or warning about one case of a test file. */
export interface CaseFinding {
  /** Path within the case. */
  readonly path: JsonPath;
  readonly message: string;
  readonly on?: 'key';
  readonly severity?: Diagnostic['severity'];
  readonly suggestion?: string;
}
