/** The outcome of one case, for comparison with its expectations. Contains no secret. */
export interface CaseOutcome {
  /** In order. An attempt that was rejected before sending has no `outbound`. */
  readonly attempts: readonly AttemptOutcome[];
  /** Every upstream call, in order, including retries. */
  readonly calls: readonly CaseCall[];
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reply's bytes as text. */
  readonly text: string;
  /** Undefined when the reply is not an event stream. */
  readonly stream: StreamOutcome | undefined;
  readonly dropped: readonly string[];
  /** Counters that the case incremented, with the increments. */
  readonly metrics: readonly MetricOutcome[];
  /** Errors of the case itself: a call without an answer, an unused answer. */
  readonly faults: readonly string[];
}

export interface AttemptOutcome {
  /** `config.targets[1]` */
  readonly target: string;
  readonly name: string | undefined;
  /** `@slug`; undefined when no catalog entry was resolved. */
  readonly provider: string | undefined;
  /** The last call of the attempt. */
  readonly outbound: CaseCall | undefined;
  /** Code of the error it failed with. */
  readonly error: string | undefined;
}

export interface CaseCall {
  readonly method: string;
  readonly url: string;
  /** Lower-case names; credentials are `[secret]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON. */
  readonly body: unknown;
}

export interface StreamOutcome {
  /** Data of each event, parsed if it is JSON. */
  readonly events: readonly unknown[];
  /** All text of the answer, joined. */
  readonly text: string;
  readonly ends: 'complete' | 'error' | 'cut';
}

export interface MetricOutcome {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
