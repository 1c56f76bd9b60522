/** What came of one case, as it is compared with what was expected. Nothing in it is a secret. */
export interface CaseOutcome {
  /** In order; refused before anything was sent: without `outbound`. */
  readonly attempts: readonly AttemptOutcome[];
  /** Every call of an upstream, in order: a retry is one, too. */
  readonly calls: readonly CaseCall[];
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reply's bytes as text. */
  readonly text: string;
  /** Undefined where the reply was no stream of events. */
  readonly stream: StreamOutcome | undefined;
  readonly dropped: readonly string[];
  /** Counters that the case has counted up, and by how much. */
  readonly metrics: readonly MetricOutcome[];
  /** What the case itself got wrong: a call without an answer, an answer that nobody asked for. */
  readonly faults: readonly string[];
}

export interface AttemptOutcome {
  /** `config.targets[1]` */
  readonly target: string;
  readonly name: string | undefined;
  /** `@slug`; undefined where none was found. */
  readonly provider: string | undefined;
  /** The last call of it. */
  readonly outbound: CaseCall | undefined;
  /** Code of the error it failed with. */
  readonly error: string | undefined;
}

export interface CaseCall {
  readonly method: string;
  readonly url: string;
  /** Lower-case names; credentials are `[secret]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON. */
  readonly body: unknown;
}

export interface StreamOutcome {
  /** Data of each event, parsed where it is JSON. */
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
