import type { VendorObjectKind } from '../../formats/fields/vendor-objects.ts';
import type { DefaultMaxTokens } from '../../formats/request-target.ts';
import type {
  Caller as PublicCaller,
  CustomHostSettings,
  GatewayConfig as PublicGatewayConfig,
  Target as PublicTarget,
  TargetGroup,
} from '../../plugin/config.ts';
import type { FallThroughRules, UnwantedReplies } from './failures.ts';
import type { GuardSettings } from './guards.ts';
import type { ComparedValue, ConditionInput } from './inbound-request.ts';
import type { OwnLimits } from './rate-limits.ts';

/** A compiled gateway config: defaults filled in, times in milliseconds, inheritance resolved. */

export interface RetrySettings {
  /** Tries after the first. */
  readonly attempts: number;
  readonly onStatusCodes: ReadonlySet<number>;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** Only the configured timeouts, in milliseconds. The nearest wins: target, config, catalog entry, server. */
export interface TimeoutSettings {
  readonly connect?: number;
  readonly firstByte?: number;
  /** Default: `firstByte`. */
  readonly firstByteOfStream?: number;
  readonly firstContent?: number;
  readonly idle?: number;
  readonly total?: number;
}

/** The timeouts of one attempt, in milliseconds. */
export type Timeouts = Required<Omit<TimeoutSettings, 'firstByteOfStream'>> &
  Pick<TimeoutSettings, 'firstByteOfStream'>;

/** Caching of a target's replies. */
export interface CacheSettings {
  readonly maxAgeMs: number;
  /** `key`: each gateway key has its own entries. `config`: all callers of the config share them. */
  readonly scope: 'key' | 'config';
  /** Undefined: only equal requests get a cached reply. */
  readonly semantic?: SemanticSettings | undefined;
}

/** When a request gets the cached reply to a request whose last user text differs. */
export interface SemanticSettings {
  /** Catalog entry and model that make vectors of texts: `@slug/model`. */
  readonly embeddings: string;
  /** The smallest cosine of the two vectors. */
  readonly threshold: number;
  /** Time for the vectors of one request. */
  readonly timeoutMs: number;
}

/** Limits on fetching media for a target that accepts media only as data. */
export interface RemoteMediaSettings {
  /** Lower-case globs, with a port when it is not the scheme's default. An empty list allows no fetch. */
  readonly hosts: readonly string[];
  /** Total bytes for one request. */
  readonly maxBytes: number;
  readonly maxItems: number;
  readonly timeoutMs: number;
  readonly allowInsecure: boolean;
  /** The URL of an image passes to an upstream that fetches it, where the gateway would otherwise send data. */
  readonly pass?: boolean | undefined;
}

/** Which models `/v1/messages` may route to: all, or the Claude family only. */
type MessagesRoute = 'any' | 'claude';

/** When the circuit breaker of a target opens. */
export interface BreakerSettings {
  /** False: health is reported but never blocks the target. */
  readonly enforced: boolean;
  readonly failures: number;
  /** Share of failed requests within the window, 0 to 1. */
  readonly failureRate: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
  readonly onStatusCodes: ReadonlySet<number>;
  /** The same for the token of one caller at the target. Default: `onStatusCodes`. */
  readonly onTokenStatusCodes?: ReadonlySet<number> | undefined;
}

/** Sending starts with the stream's first content, or when the stream is complete. */
export type CommitMode = 'first_content' | 'complete';

/** Reads a value that keeps requests on one target: text, or any JSON value of the body. Undefined: the request has none. */
export type HashField = (request: ConditionInput & { readonly caller: Caller | undefined }) => unknown;

export interface StickySettings {
  readonly fields: readonly HashField[];
  readonly ttlMs: number;
}

/** Rules for `x-gateway-metadata`: required keys, allowed values, cost labels. */
export interface MetadataRules {
  readonly required: readonly string[];
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Metadata key → cost label. `'all'`: every key under its own name. */
  readonly labels: ReadonlyMap<string, string> | 'all' | undefined;
}

/** The chain of a `plugins` list, compiled. Only the gateway runs it. */
export interface NamedChain {
  /** Equal for chains of equal lists. */
  readonly id: string;
  /** The plugins' own names; an instance may have another one. */
  readonly pluginNames: ReadonlySet<string>;
  run(ctx: object): Promise<void>;
}

export interface Target extends PublicTarget {
  readonly defaultParams: Readonly<Record<string, unknown>> | undefined;
  /** Overrides of the config, its groups and the target: each level merges into those before it. */
  readonly overrideLevels: readonly Readonly<Record<string, unknown>>[];
  /** Paths of fields to delete, applied after the overrides. */
  readonly dropParams: readonly (readonly string[])[];
  /** Lower-case names of request headers to forward to the upstream. */
  readonly forwardHeaders: readonly string[];
  /** Undefined: no caching. */
  readonly cache: CacheSettings | undefined;
  /** Undefined: no fetching. */
  readonly remoteMedia: RemoteMediaSettings | undefined;
  readonly retry: RetrySettings;
  readonly breaker: BreakerSettings;
  readonly commit: CommitMode;
  /** Complete replies that are failures of the target. Undefined: none. */
  readonly unwanted?: UnwantedReplies | undefined;
  readonly timeouts: TimeoutSettings;
  readonly strict: boolean | undefined;
  readonly messagesRoute: MessagesRoute;
  /** Its attempt chain, which `plugins` of the target or of the config around it names. Undefined: the server's. */
  readonly chain?: NamedChain | undefined;
  /** Undefined: the catalog entry's. */
  readonly defaultMaxTokens?: DefaultMaxTokens | undefined;
  /** Default: `refuse`. */
  readonly onUnreadablePart?: 'refuse' | 'drop' | undefined;
  /** Names of aliases by the `@slug/model` that stands in their place in the parameters. */
  readonly aliases?: ReadonlyMap<string, string>;
  /** Its own, after those of the groups around it. Those of the config are not among them. */
  readonly guards?: readonly GuardSettings[] | undefined;
}

export interface Group extends TargetGroup {
  readonly kind: 'group';
  readonly mode: 'single' | 'fallback' | 'loadbalance';
  readonly fallsThrough: FallThroughRules;
  readonly members: readonly Route[];
  /** For `loadbalance`: one weight per member, ≥ 0. A member of weight 0 is never selected. */
  readonly weights: readonly number[];
  /** For `loadbalance`: keeps related requests on one member. */
  readonly sticky: StickySettings | undefined;
}

/** Selects one of its members by the content of the request. */
export interface Conditional extends TargetGroup {
  readonly kind: 'conditional';
  readonly branches: readonly Branch[];
  /** Reads what the branches compare, for the record. */
  readonly compared?: (request: ConditionInput) => readonly ComparedValue[];
  readonly otherwise: Route;
  /** Every member once, including those that no branch leads to. */
  readonly members: readonly Route[];
}

export interface Branch {
  readonly holds: (request: ConditionInput) => boolean;
  /** The query as written in the config. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly member: Route;
}

export type Route = Target | Group | Conditional;

export interface GatewayConfig extends PublicGatewayConfig {
  readonly route: Route;
  readonly metadata: MetadataRules | undefined;
  /** Time limit of a whole request in milliseconds; undefined: the server's limit. */
  readonly deadlineMs: number | undefined;
  /** Undefined: none, unless the gateway key allows some. */
  readonly customHosts: CustomHostSettings | undefined;
  /** Diagnostic headers of its replies. */
  readonly replyHeaders: ReadonlySet<ReplyHeader>;
  /** Pinned versions of prompts, by number or label. */
  readonly prompts?: ReadonlyMap<string, number | string> | undefined;
  /** Guards of all its requests, beside those of the server and of the key. */
  readonly guards?: readonly GuardSettings[] | undefined;
  /** Its request chain, which `plugins` names. Undefined: the server's. */
  readonly chain?: NamedChain | undefined;
}

/**
 * server_timing: time per stage, as `Server-Timing`. config_hash: the `hash` of the config. explain_id: the id by which
 * the request can be explained later.
 */
type ReplyHeader = 'server_timing' | 'config_hash' | 'explain_id' | 'cost';

/** Which request fields are allowed: the `allow` list minus the `deny` list. */
export interface FieldSettings {
  readonly preset?: 'shared_credentials' | undefined;
  /** Paths: `store`, `tools[].container`, `**.file_id`. */
  readonly deny?: readonly string[] | undefined;
  /** Undefined: every field that is not denied. */
  readonly allow?: readonly string[] | undefined;
  /** The buckets that `gs://` addresses may name, with optional path. Undefined: all; under the preset none. */
  readonly mediaBuckets?: readonly string[] | undefined;
  /** The kinds of vendor objects whose ids pass. Undefined: all. With the caller's own token, all pass. */
  readonly vendorObjects?: readonly VendorObjectKind[] | undefined;
}

/** Limits for the files of one key. */
export interface FileLimits {
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
  readonly ttlMs: number;
}

export interface Caller extends PublicCaller {
  /** Ids and patterns of prompts. Undefined: all. */
  readonly prompts?: readonly string[] | undefined;
  /** Guards of all its requests, beside those of the server. */
  readonly guards?: readonly GuardSettings[] | undefined;
  /** Such a config may name `plugins`. Default: false. */
  readonly inlinePlugins?: boolean | undefined;
  /** Undefined: every field. */
  readonly fields?: FieldSettings | undefined;
  /** The key's own limits for files, in place of the server's. */
  readonly files?: Partial<FileLimits> | undefined;
  /** A caller's other value for a key of `metadata` is refused instead of dropped. */
  readonly metadataStrict?: boolean | undefined;
  /** Limits of a caller that a plugin has made. */
  readonly limits?: OwnLimits | undefined;
  /** A person sent the request through the console, in the name of the key. */
  readonly origin?: 'playground';
}
