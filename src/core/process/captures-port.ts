import type { RecordQuery } from '../record/record-query.ts';
import type { AskParts } from './ask-parts.ts';

/** The most of one capture. */
export const CAPTURE_LIMITS = { requests: 100, minutes: 60 } as const;

export interface CaptureWish {
  /** Which requests, by their records. */
  readonly query: Omit<RecordQuery, 'limit'>;
  /** The same as the caller has written it. */
  readonly where: object;
  readonly requests: number;
  readonly minutes: number;
  /** Who wants it, as in the audit. */
  readonly by: string;
}

export interface CaptureState {
  readonly id: string;
  readonly by: string;
  readonly where: object;
  /** running: it takes requests. done: it has all it wanted, or its minutes are over. */
  readonly state: 'running' | 'done';
  /** Wanted, and captured so far. */
  readonly requests: number;
  readonly captured: number;
  /** Requests that fitted and were larger than a capture takes. */
  readonly too_large: number;
  readonly bytes: number;
  /** ISO 8601, as those that follow. */
  readonly started_at: string;
  /** It takes no request after it. */
  readonly until: string;
  /** Everything of it is gone by then. */
  readonly gone_at: string;
}

/** Bodies of requests and replies, with the times of their pieces, for a while. An add-on has them. */
export interface Captures {
  /** Undefined: too many are there. */
  start(ask: AskParts, wish: CaptureWish): Promise<CaptureState | undefined>;
  list(): readonly CaptureState[];
  /** The file of a capture, line by line. Undefined: there is no such capture. */
  file(id: string): Iterable<string> | undefined;
  /** Ends it and drops what it has. False: there is no such capture. */
  end(id: string): Promise<boolean>;
}
