import type { Attempt, GatewayError } from '../../plugin/index.ts';
import type { SeenAttempt } from './observation.ts';

/** The known and collected facts of a dry run. */
export interface RunNotes {
  /** The known failure of an attempt. */
  failureOf(attempt: Attempt): GatewayError | undefined;
  seen(attempt: Attempt): SeenAttempt;
  note(text: string): void;
}
