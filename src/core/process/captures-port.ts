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

/** Bodies of requests and replies, with the times of their pieces, for a while. An add-on has them. */
export interface Captures {
  /**
   * Undefined: too many are there.
   * @param isDryRun nothing begins; the answer is as if it had
   */
  start(ask: AskParts, wish: CaptureWish, isDryRun?: boolean): Promise<(object & { readonly id: string }) | undefined>;
  list(): readonly (object & { readonly id: string })[];
  /** The file of a capture, line by line. Undefined: there is no such capture. */
  file(id: string): Iterable<string> | undefined;
  /** Ends it and drops what it has. False: there is no such capture. */
  end(id: string): Promise<boolean>;
}
