import type { Diagnostic } from '../../settings/problems/diagnostic.ts';
import type { Path } from '../../settings/read/pointer.ts';

/** A mistake in one case of a test file. */
export interface Finding {
  /** Within the case. */
  readonly path: Path;
  readonly message: string;
  readonly on?: 'key';
  readonly severity?: Diagnostic['severity'];
  readonly suggestion?: string;
}
