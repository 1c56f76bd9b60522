import type { FallThroughRules } from './failures.ts';
import type { ConditionInput } from './inbound-request.ts';

/** What a gateway config says, compiled: defaults filled in, times in milliseconds, inheritance worked out. */

export interface RetrySettings {
  /** Tries after the first. */
  readonly attempts: number;
  readonly onStatusCodes: ReadonlySet<number>;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** Only what was set; nearer settings win field by field: target, config, catalog entry, server. */
export interface TimeoutSettings {
  readonly connect?: number;
  readonly firstByte?: number;
  readonly firstContent?: number;
  readonly idle?: number;
  readonly total?: number;
}

/** Replies of a target that may be given again. */
export interface CacheSettings {
  readonly maxAgeMs: number;
  /** Who shares them: each key its own, or all that use the config. */
  readonly scope: 'key' | 'config';
}

/** What may be fetched for a target that takes media only as data. */
export interface RemoteMediaSettings {
  /** Lower-case globs, with a port where it is not the scheme's own; empty: nothing may. */
  readonly hosts: readonly string[];
  /** Of one request, together. */
  readonly maxBytes: number;
  readonly maxItems: number;
  readonly timeoutMs: number;
  readonly allowInsecure: boolean;
}

/** Which models answer on `/v1/messages`: all, or the Claude family only. */
export type MessagesRoute = 'any' | 'claude';

/** When a target that keeps failing is left alone. */
export interface BreakerSettings {
  /** False: its health is only told. */
  readonly enforced: boolean;
  readonly failures: number;
  /** Of the requests within the window, 0 to 1. */
  readonly failureRate: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
  readonly onStatusCodes: ReadonlySet<number>;
}

/** first_content: a stream begins to leave with its first content. complete: when all of it is there. */
export type CommitMode = 'first_content' | 'complete';

/** Where a value that requests are kept together by is read. */
export type HashField = 'caller' | { readonly metadata: string } | { readonly header: string };

export interface StickySettings {
  readonly fields: readonly HashField[];
  readonly ttlMs: number;
}

/** Hosts a caller may choose by itself. */
export interface CustomHostSettings {
  /** Lower-case globs, with a port where it is not the scheme's own. */
  readonly hosts: readonly string[];
  readonly allowInsecure: boolean;
}

/** What `x-gateway-metadata` must hold, and what of it becomes cost labels. */
export interface MetadataRules {
  readonly required: readonly string[];
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Metadata key → label; `'all'`: each under its own name. */
  readonly labels: ReadonlyMap<string, string> | 'all' | undefined;
}

/** One destination with everything it inherits. */
export interface Target {
  readonly kind: 'target';
  /** Place in the config, as `x-gateway-last-used-option-index` says it: `config`, `config.targets[1]`. */
  readonly path: string;
  /** `@slug` or a provider name. */
  readonly provider: string | undefined;
  readonly defaultParams: Readonly<Record<string, unknown>> | undefined;
  /** All of them in one: to be read. */
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  /** Those of the config, of its groups and of the target, in this order: each is laid over what those before it made of the request. */
  readonly overrideLevels: readonly Readonly<Record<string, unknown>>[];
  /** Paths of fields that are taken out, after the overrides. */
  readonly dropParams: readonly (readonly string[])[];
  /** Lower-case names of request headers that go on to the upstream. */
  readonly forwardHeaders: readonly string[];
  /** Undefined: nothing is kept. */
  readonly cache: CacheSettings | undefined;
  /** Undefined: nothing is fetched. */
  readonly remoteMedia: RemoteMediaSettings | undefined;
  readonly retry: RetrySettings;
  readonly breaker: BreakerSettings;
  readonly commit: CommitMode;
  /** Tokens the model takes, where the config says it. */
  readonly contextWindow: number | undefined;
  readonly timeouts: TimeoutSettings;
  readonly strict: boolean | undefined;
  readonly messagesRoute: MessagesRoute;
}

export interface Group {
  readonly kind: 'group';
  readonly path: string;
  readonly mode: 'single' | 'fallback' | 'loadbalance';
  readonly fallsThrough: FallThroughRules;
  readonly members: readonly Route[];
  /** loadbalance: one for each member, ≥ 0; those of 0 are never used. */
  readonly weights: readonly number[];
  /** loadbalance: requests that belong together go to the same member. */
  readonly sticky: StickySettings | undefined;
}

/** One of its members, by what the request says. */
export interface Conditional {
  readonly kind: 'conditional';
  readonly path: string;
  readonly branches: readonly Branch[];
  readonly otherwise: Route;
  /** Every member, each once, those no branch leads to among them. */
  readonly members: readonly Route[];
}

export interface Branch {
  readonly holds: (request: ConditionInput) => boolean;
  /** As the config writes it. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly member: Route;
}

export type Route = Target | Group | Conditional;

export interface GatewayConfig {
  /** File name without `.yaml`; `''` for a request without a config, `'inline'` for one that came with the request. */
  readonly id: string;
  /** Tells what the config says: two configs with the same one do the same. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly route: Route;
  readonly metadata: MetadataRules | undefined;
  /** Of a whole request, in milliseconds; undefined: the server's. */
  readonly deadlineMs: number | undefined;
  /** Undefined: none, unless the key says so. */
  readonly customHosts: CustomHostSettings | undefined;
  /** What its replies say in headers about how they came about. */
  readonly replyHeaders: ReadonlySet<ReplyHeader>;
}

/**
 * server_timing: where the time went, as `Server-Timing`. config_hash: the `hash` of the config. explain_id: under which the request
 * can be explained afterwards.
 */
export type ReplyHeader = 'server_timing' | 'config_hash' | 'explain_id';

/** Which fields of requests pass: those that are allowed, less those that are denied. */
export interface FieldSettings {
  readonly preset?: 'shared_credentials' | undefined;
  /** Paths: `store`, `tools[].container`, `**.file_id`. */
  readonly deny?: readonly string[] | undefined;
  /** Undefined: all that is not denied. */
  readonly allow?: readonly string[] | undefined;
  /** The only buckets, perhaps with a prefix, that `gs://` addresses may name. Undefined: all, or none under the preset. */
  readonly mediaBuckets?: readonly string[] | undefined;
}

/** Who is calling: the entry of keys.yaml that matched. */
export interface Caller {
  readonly keyId: string;
  readonly providers: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly configs: readonly string[] | undefined;
  readonly defaultConfig: string | undefined;
  /** May send a config of its own in `x-gateway-config`. */
  readonly inlineConfigs: boolean;
  /** Undefined: none, unless the gateway config says so. */
  readonly customHosts: CustomHostSettings | undefined;
  /** Undefined: every field. */
  readonly fields?: FieldSettings | undefined;
}
