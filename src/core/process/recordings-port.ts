/** The reply of an upstream as it was recorded. */
export interface RecordedReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each with its milliseconds after the call. */
  readonly pieces: readonly (readonly [ms: number, bytes: Buffer])[];
  /** cut: the connection ends before the reply does. silent: nothing follows, and the caller gives up. */
  readonly end: 'complete' | 'cut' | 'silent';
}

export interface RecordedCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

export type FoundRecording =
  | { readonly reply: RecordedReply }
  /** There was no reply: the connection ends after these milliseconds; Infinity: the caller gives up. */
  | { readonly failed: number }
  /** How the call differs from the nearest recording. */
  | { readonly miss: string };

/** The calls of upstreams in a file of a capture. Equal calls get their replies in the recorded order, then from the first again. */
export interface Recordings {
  find(call: RecordedCall): FoundRecording;
}
