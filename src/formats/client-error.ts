import type { JsonObject } from './conversation.ts';

/** An error as a client of this format expects it. `type`, `code` and `param` already use the API's own vocabulary. */
export interface ClientError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly requestId: string;
  /** The base of the ids in the reply under way, for the last event of a stream. Default: the request's id. */
  readonly replyId?: string;
  /** The gateway's own limit that refused the request. */
  readonly limit?: {
    readonly counts: 'requests' | 'tokens' | 'concurrency';
    readonly retryAfterMs: number;
  };
  /** The wait that the upstream requested, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Details of the upstream's error in Google's form, without the account. */
  readonly upstreamDetails?: readonly JsonObject[];
}

/** Codes of the gateway for a budget without room. */
const OUT_OF_BUDGET: ReadonlySet<string | null> = new Set(['budget_exceeded', 'budget_cut']);

export const isOutOfBudget = ({ code }: ClientError): boolean => OUT_OF_BUDGET.has(code);

/** Status and body of an error reply. 503 in one API is 529 in another (docs/protocols/errors.md#overload). */
export interface ErrorReply {
  readonly status: number;
  readonly body: JsonObject | readonly JsonObject[];
}
