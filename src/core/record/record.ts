import type { CacheStatus, ErrorCode, FailureKind, ReplyEnd } from '../../plugin/index.ts';
import type {
  ChoiceReason,
  ChosenBranch,
  CommitMode,
  EmbeddingCall,
  GuardVerdict,
  SemanticLookup,
  SentFile,
  SkippedTarget,
} from '../kernel/index.ts';
import type { DefaultedParam, Loss } from '../../formats/conversation.ts';
import type { FinishReason, Usage } from '../../formats/events.ts';
import type { DisconnectStage, ErrorTypeLabel, RejectionReason } from './error-types.ts';
import type { PromptPrefixes } from '../kernel/prompt-prefixes.ts';
import type { RecordedCost } from './costs.ts';
import type { Substitution } from './substitution.ts';

/** running: the request has not ended yet. */
export type RequestOutcome = 'success' | 'error' | 'aborted' | 'running';

export interface RecordedTry {
  /** Index of the batch call; 0 without a batch. */
  readonly call: number;
  /** After the request's arrival. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** Wait since the end of the same call's previous try; 0 for the first one. */
  readonly waitedMs: number;
  /** Time in the queue for a connection; undefined when one was free. */
  readonly inLineMs: number | undefined;
  readonly status: number | undefined;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  readonly resent: boolean;
}

/** Destination of an attempt. */
export interface RecordedPlace {
  /** Slug of the catalog entry. */
  readonly provider: string;
  /** OpenTelemetry's name for it. */
  readonly semconvName: string;
  readonly model: string;
  /** The model as a metric label of bounded cardinality. */
  readonly modelLabel: string;
  /** Without its query, because some vendors accept keys there. */
  readonly url: string;
  /** The kind of region by which prices differ; undefined: the provider has none. */
  readonly geo?: string | undefined;
}

/** Why an attempt failed, or why its reply was interrupted. */
export interface RecordedFailure {
  readonly kinds: readonly FailureKind[];
  readonly status: number;
  readonly upstreamKind: string | undefined;
  /** The upstream's own message, parameter and code, without credentials. The message may quote a part of the request. */
  readonly upstreamMessage: string | undefined;
  readonly upstreamParam: string | undefined;
  readonly upstreamCode: string | undefined;
  readonly retryAfterMs: number | undefined;
}

export interface RecordedAttempt {
  readonly number: number;
  /** `config.targets[1]` */
  readonly target: string;
  readonly targetName: string | undefined;
  readonly why: ChoiceReason;
  /** Undefined when no target was resolved. */
  readonly place: RecordedPlace | undefined;
  /** After the request's arrival. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  readonly failure: RecordedFailure | undefined;
  /** It sent a request, or failed on the way to its upstream. */
  readonly counted: boolean;
  /** The client's reply comes from this attempt, even if incomplete. Tokens of other attempts bought no reply. */
  readonly answered: boolean;
  readonly stream: boolean;
  readonly commit: CommitMode;
  readonly cache: CacheStatus | undefined;
  readonly cacheMode: 'exact' | 'semantic';
  /** Undefined without a look-up in a semantic cache. */
  readonly semantic: RecordedSemantic | undefined;
  readonly tries: readonly RecordedTry[];
  readonly retries: number;
  /** From the start of the last try until its first content. */
  readonly firstContentMs: number | undefined;
  readonly responseModel: string | undefined;
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
  /** The upstream's report, where it cannot be true and `usage` stands in its place. */
  readonly claimedUsage: Usage | undefined;
  /** Another model or service tier than the request names has answered. */
  readonly substitution: Substitution | undefined;
  /** Undefined while it runs, and where nothing was sent or the upstream refused. */
  readonly cost: RecordedCost | undefined;
  /** Costs of earlier tries whose reply was lost, and for which the upstream may have charged something. */
  readonly lostCosts: readonly RecordedCost[];
  /** The gateway estimated the count of tokens; nothing was sent. */
  readonly estimated: boolean;
  /** Of the prompt of an attempt that answered. Undefined: none were made. */
  readonly prefixes: PromptPrefixes | undefined;
  /** An entry with `count` stands for that many unnamed losses. */
  readonly losses: readonly Pick<Loss, 'param' | 'action' | 'count'>[];
  /** Stored files that the request names, each once. */
  readonly files: readonly RecordedFile[];
  /** Fields that the caller omitted and the target demands. */
  readonly defaulted: readonly Pick<DefaultedParam, 'param' | 'value'>[];
}

/** A stored file of a request: its bytes were in the request (inline), or the provider read it at its address (uri). */
type RecordedFile = Pick<SentFile, 'id' | 'bytes' | 'way'>;

/** A look-up in the semantic cache. It has no text. */
export interface RecordedSemantic extends Pick<SemanticLookup, 'result' | 'reason' | 'similarity'> {
  /** The call for vectors; undefined when none was made. */
  readonly embedding:
    | {
        /** Slug of the catalog entry. */
        readonly provider: string;
        /** The model as a metric label of bounded cardinality. */
        readonly modelLabel: string;
        readonly durationMs: number;
        readonly tokens: number | undefined;
        readonly cost: RecordedCost | undefined;
        readonly result: EmbeddingCall['result'];
      }
    | undefined;
}

export interface RecordedSkip {
  readonly target: string;
  readonly targetName?: string;
  /** Provider in the config; absent when the request names it. */
  readonly provider?: string;
  readonly reason: SkippedTarget['reason'];
  /** Number of attempts made before. */
  readonly after: number;
}

/**
 * The record of a request: a plain value, created once when its reply has ended, and the only source of metrics, spans,
 * the access line and the admin listener, so that they cannot disagree. It does not hold the memory of the request. It
 * has no credentials, of a request's content only what its metadata and an upstream's error message quote, and of all
 * headers the user agent. Texts of callers and upstreams are truncated.
 */
export interface RequestRecord {
  readonly id: string;
  /** Unique id by which the request can be explained. */
  readonly explainId: string | undefined;
  readonly traceId: string;
  /** Id of the server span; undefined without tracing. */
  readonly spanId: string | undefined;
  readonly isSampled: boolean;
  /** Wall clock, milliseconds since 1970. */
  readonly receivedAt: number;
  readonly state: ReplyEnd['state'] | 'running';
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Template of the operation's path; undefined for an unknown path. */
  readonly route: string | undefined;
  /** `chat.completions` */
  readonly operation: string | undefined;
  /** OpenTelemetry's name for the operation: `chat`. */
  readonly semconvName: string | undefined;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
  readonly keyId: string | undefined;
  readonly team: string | undefined;
  /** `playground`: a person sent it through the console. */
  readonly origin: 'playground' | undefined;
  /** Metadata of the caller and of its key, which wins; undefined without any. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** Number of the caller's values that the key's own replaced. */
  readonly metadataDropped: number;
  /** Number of metadata beyond the bound of a record. */
  readonly metadataLeftOut: number;
  /** Undefined for a request without a gateway config, and so is the hash. */
  readonly configId: string | undefined;
  readonly configHash: string | undefined;
  /** The caller's header named the config, or had it. Undefined: the default of its key or of the server, or an alias. */
  readonly namesConfig: 'named' | 'inline' | undefined;
  /** As the caller named it, whatever the settings put in its place. */
  readonly askedModel: string | undefined;
  /** The alias that the request named as its model; a wildcard as catalog.yaml has it: `openai/*`. */
  readonly alias: string | undefined;
  /** The version of a prompt that the request used, even if its texts could not be made. */
  readonly prompt: { readonly id: string; readonly version: number } | undefined;
  readonly upload: { readonly id: string; readonly bytes: number } | undefined;
  readonly settingsHash: string;
  /** Milliseconds after the arrival. */
  readonly deadlineMs: number;
  readonly durationMs: number;
  /** Duration without the time spent waiting for upstreams, by this request or by the one whose reply it shares. */
  readonly overheadMs: number;
  /** From the arrival until the first content of the sent reply. */
  readonly firstContentMs: number | undefined;
  /** Status that was sent; 499 for a client that disconnected first. */
  readonly status: number;
  /** `status`, except that a stream that failed after its 200 has its error's status. */
  readonly outcomeStatus: number;
  readonly outcome: RequestOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  /** The external plugin at fault. */
  readonly plugin: string | undefined;
  /** Set only when the client left before its reply had ended: no upstream tried yet, nothing sent yet, bytes sent. */
  readonly disconnectStage: DisconnectStage | undefined;
  readonly rejection: RejectionReason | undefined;
  /** The gateway's own limit of rates that refused the request, `team:requests`, or the budget: `team:search:month:usd`. */
  readonly limitedBy: string | undefined;
  readonly stream: boolean;
  /** Bytes of the request's body; 0 without a body, or when it was not read whole. */
  readonly bytesIn: number;
  /** Bytes of the reply's body that were written to the connection. */
  readonly bytesOut: number;
  readonly cache: CacheStatus | undefined;
  readonly retries: number;
  readonly attempts: readonly RecordedAttempt[];
  readonly skipped: readonly RecordedSkip[];
  /** Project and location in the path of a Vertex AI client, which the gateway ignores. */
  readonly ignoredPlace: { readonly project: string; readonly location: string } | undefined;
  readonly conditions: readonly ChosenBranch[];
  /** Random numbers of load balances, in order. Undefined: none was drawn. */
  readonly draws: readonly number[] | undefined;
  /** Decisions of guards, without a text. Undefined: there was none. Bounded by the settings. */
  readonly guards: readonly GuardVerdict[] | undefined;
}

export interface RecordTimes {
  /** Monotonic. */
  readonly endedAt: number;
  /** Wall clock. */
  readonly receivedAt: number;
}
