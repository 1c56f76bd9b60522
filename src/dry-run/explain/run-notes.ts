import type { Attempt, GatewayError } from '../../plugin/index.ts';
import type { SeenAttempt } from './observation.ts';

/** What a dry run knows, and notes, of its request. */
export interface RunNotes {
  /** What an attempt is known to have failed with. */
  failureOf(attempt: Attempt): GatewayError | undefined;
  seen(attempt: Attempt): SeenAttempt;
  note(text: string): void;
}
