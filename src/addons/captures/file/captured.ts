/**
 * A file of a capture is JSON lines (https://jsonlines.org): its head, then one request a line. Times are whole milliseconds. Each character
 * of a credential is `*`, so that bytes keep their places.
 */
export interface CaptureHead {
  readonly gatehouse_capture: 1;
  readonly id: string;
  readonly where: object;
  readonly started_at: string;
}

/** Bytes: a text, or base64 where they are no UTF-8. */
export type WrittenBytes = string | { readonly base64: string };

/** Bytes that came together. `ms` counts from the start of the call; in the client's reply, from the start of the request. */
export type TimedPiece = readonly [ms: number, bytes: WrittenBytes];

export interface CapturedReply {
  readonly status: number;
  /** Lower-case names; no credentials, and nothing about the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly TimedPiece[];
  /** cut: it broke off. */
  readonly end: 'complete' | 'cut';
}

export interface CapturedCall {
  /** `config.targets[1]` */
  readonly target: string;
  readonly provider?: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: a form, whose bytes are not kept, or none. */
  readonly body: WrittenBytes | null;
  /** After the start of the request. */
  readonly at_ms: number;
  /** Absent: there was none. */
  readonly reply?: CapturedReply;
  /** Code of the gateway's error, if the call ended without a whole reply. */
  readonly failed?: string;
  /** After the start of the call, if it failed. */
  readonly failed_ms?: number;
}

export interface CapturedExchange {
  readonly id: string;
  readonly time: string;
  readonly state: string;
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  readonly config?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none, or not kept: that of a reply from the cache. */
  readonly body: WrittenBytes | null;
  /** In the order in which they were sent. */
  readonly calls: readonly CapturedCall[];
  /** The reply that the client got. */
  readonly reply: CapturedReply;
}

export interface CaptureState {
  readonly id: string;
  readonly by: string;
  readonly where: object;
  /** running: it takes requests. done: it has all it wanted, or its minutes are over. */
  readonly state: 'running' | 'done';
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
