import type {
  CacheStatus,
  ChoiceReason,
  ChosenBranch,
  CommitMode,
  ErrorCode,
  FailureKind,
  ReplyEnd,
  SkippedTarget,
} from '../plugin/index.ts';
import type { Loss } from '../formats/conversation.ts';
import type { FinishReason, Usage } from '../formats/events.ts';
import type { ErrorTypeLabel, RejectionReason } from './error-types.ts';

/** running: it has not ended yet. */
export type RequestOutcome = 'success' | 'error' | 'aborted' | 'running';

/** One physical try. */
export interface RecordedTry {
  /** Which call of a batch it is a try of; 0 where there is one. */
  readonly call: number;
  /** After the request's arrival. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** From the end of the same call's try before; 0 for the first one. */
  readonly waitedMs: number;
  /** It waited so long in line for a connection; undefined where one was free. */
  readonly inLineMs: number | undefined;
  readonly status: number | undefined;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  readonly resent: boolean;
}

/** Where an attempt went. */
export interface RecordedPlace {
  /** Slug of the catalog entry. */
  readonly provider: string;
  /** OpenTelemetry's name for it. */
  readonly semconvName: string;
  readonly model: string;
  /** The same, bounded for metrics. */
  readonly modelLabel: string;
  /** Without its query: some vendors take keys there. */
  readonly url: string;
}

/** Why an attempt was given up, or its reply broke. */
export interface RecordedFailure {
  readonly kinds: readonly FailureKind[];
  readonly status: number;
  /** The provider's own word for it. */
  readonly upstreamKind: string | undefined;
  /** Wait the upstream asked for. */
  readonly retryAfterMs: number | undefined;
}

export interface RecordedAttempt {
  readonly number: number;
  /** `config.targets[1]` */
  readonly target: string;
  readonly why: ChoiceReason;
  /** Undefined where none was found. */
  readonly place: RecordedPlace | undefined;
  /** After the request's arrival. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  readonly failure: RecordedFailure | undefined;
  /** It spoke to its upstream, or failed on the way there. */
  readonly counted: boolean;
  /** The client's reply is its answer, as far as that came. What any other attempt made of tokens is nobody's answer. */
  readonly answered: boolean;
  readonly stream: boolean;
  readonly commit: CommitMode;
  /** Undefined where no cache is configured. */
  readonly cache: CacheStatus | undefined;
  readonly tries: readonly RecordedTry[];
  readonly retries: number;
  /** From the start of the last try until its first content. */
  readonly firstContentMs: number | undefined;
  /** Model the provider says it ran. */
  readonly responseModel: string | undefined;
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
  /** An entry with a count stands for so many that have no names. */
  readonly losses: readonly Pick<Loss, 'param' | 'action' | 'count'>[];
}

export interface RecordedSkip {
  readonly target: string;
  /** As the config names it; without it the request did. */
  readonly provider?: string;
  readonly reason: SkippedTarget['reason'];
  /** Attempts that were made before. */
  readonly after: number;
}

/**
 * What became of a request: a plain value, made once when its reply has ended. Metrics, spans, the access line and the admin
 * listener have no other source, so that they cannot disagree. It points to nothing of the request, whose memory it would hold,
 * and has neither content nor credentials: codes and no messages, which may quote a prompt; no metadata; the user agent alone of
 * all headers. Texts of callers and upstreams are cut.
 */
export interface RequestRecord {
  readonly id: string;
  /** Under which it can be explained; no other request has it. */
  readonly explainId: string | undefined;
  readonly traceId: string;
  /** Wall clock, milliseconds since 1970. */
  readonly receivedAt: number;
  readonly state: ReplyEnd['state'] | 'running';
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Template of the operation's path; undefined for one that is not served. */
  readonly route: string | undefined;
  /** `chat.completions` */
  readonly operation: string | undefined;
  /** OpenTelemetry's name for the operation: `chat`. */
  readonly semconvName: string | undefined;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
  readonly keyId: string | undefined;
  /** Empty for a request without a gateway config. */
  readonly configId: string | undefined;
  readonly configHash: string | undefined;
  readonly settingsHash: string;
  /** After the arrival. */
  readonly deadlineMs: number;
  readonly durationMs: number;
  /** Duration less the time an upstream was waited for, by this request or by the one whose answer it shares. */
  readonly overheadMs: number;
  /** From the arrival until the first content of the reply that left. */
  readonly firstContentMs: number | undefined;
  /** What left; 499 for a client that did not wait for it. */
  readonly status: number;
  /** The same, but a stream that failed after its 200 has its error's status. */
  readonly outcomeStatus: number;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  /** The plugin from outside whose fault the error is. */
  readonly plugin: string | undefined;
  readonly disconnectStage: 'queued' | 'waiting' | 'streaming' | undefined;
  readonly rejection: RejectionReason | undefined;
  readonly stream: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of the attempt that answered. */
  readonly cache: CacheStatus | undefined;
  /** Of all attempts. */
  readonly retries: number;
  readonly attempts: readonly RecordedAttempt[];
  readonly skipped: readonly RecordedSkip[];
  readonly conditions: readonly ChosenBranch[];
}

/** How a request stands: ended, or not yet. */
export type RecordEnd = Omit<ReplyEnd, 'state'> & { readonly state: RequestRecord['state'] };

export interface RecordTimes {
  /** Monotonic. */
  readonly endedAt: number;
  /** Wall clock. */
  readonly receivedAt: number;
}
