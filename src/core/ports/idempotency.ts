/** Answers to writes of the admin API that may be repeated (`Idempotency-Key`). Methods reject with `StateFailure`. */
export interface Idempotency {
  /** Undefined: there is none, or its time has ended. */
  find(actor: string, key: string): Promise<KeptAnswer | undefined>;
  /** Keeps an answer, in place of one whose time has ended. An answer that is there already stays. */
  keep(answer: KeptAnswer): Promise<void>;
}

/** Most answers that a store keeps of one actor. With more, those that end first are dropped. */
export const MAX_ANSWERS = 1_000;
export const MAX_ANSWER_LENGTH = 256 * 1024;

export interface KeptAnswer {
  /** `Actor.id`. */
  readonly actor: string;
  /** A digest of the caller's key. 1 to 128 characters. */
  readonly key: string;
  /** Digest of the request's method, path and body. 64 hex digits. */
  readonly sha256: string;
  readonly status: number;
  /** Sealed by the caller of the port: an answer may hold a new key. */
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}
