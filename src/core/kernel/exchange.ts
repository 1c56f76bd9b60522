import type { Format } from '../../formats/format.ts';
import type {
  AttemptContext as PublicAttemptContext,
  Exchange as PublicExchange,
  GatewayContext as PublicGatewayContext,
  SkippedTarget as PublicSkippedTarget,
} from '../../plugin/exchange.ts';
import type { Attempt } from './attempt.ts';
import type { GuardVerdict } from './guards.ts';
import type { ComparedValue, InboundRequest } from './inbound-request.ts';
import type { Operation } from './operation.ts';
import type { CallerLimits } from './rate-limits.ts';
import type { TraceContext } from './outside/plugin-work.ts';
import type { Caller, GatewayConfig, Target } from './settings.ts';

/** A request as code of the gateway sees it: what plugins set for each other, beside what authors of plugins may use. */
export interface Exchange extends PublicExchange {
  /** Letters and digits, the base of the ids in the reply. Unique, although callers may repeat the `id` of a request. */
  readonly replyId: string;
  /** Hash of the settings snapshot that serves the request from start to end. */
  readonly settingsHash: string;
  readonly operation: Operation | undefined;
  /** The client's API format. At a path that the gateway does not serve, inferred from the path or the headers. */
  readonly clientFormat?: Format | undefined;
  readonly request: InboundRequest;
  /** Telemetry replaces it when tracing is on. */
  trace: TraceContext;
  caller: Caller | undefined;
  config: GatewayConfig | undefined;
  /** The alias that the request named as its model; the plugin `config` sets it and puts the target into the body. */
  alias?: UsedAlias | undefined;
  /** The request names its model with the suffix `[1m]`: it asks for the longer context window of the model. */
  longContext?: boolean | undefined;
  /** The gateway rejects a request with losses (400) instead of reporting them. */
  strictParams: boolean;
  /** The prompt that the request names, even if its texts cannot be made; the plugin `prompts` sets it. */
  prompt?: UsedPrompt | undefined;
  /** The file that this request has stored; the plugin `files` sets it. */
  upload?: { readonly id: string; readonly bytes: number } | undefined;
  /** Kept responses that the request continues, and whether its own is kept; the plugin `responses` sets it. */
  kept?: KeptTurn | undefined;
  /** Names of `labels` that come from the key's own metadata: `labels` of the body do not replace them. */
  boundLabels?: ReadonlySet<string> | undefined;
  /** Number of the caller's metadata values that the key's own replaced. */
  droppedMetadata?: number | undefined;
  /** The limits of the caller; the plugin `limit` sets them. Undefined: it has none. */
  limits?: CallerLimits | undefined;
  /** Decisions of guards, in the order in which the guards began. Undefined: there was none. */
  guards?: GuardVerdict[] | undefined;
  /** Headers for upstreams that a plugin takes from others of the client, by their lower-case names. Undefined: none. */
  mappedHeaders?: Readonly<Record<string, MappedHeader>> | undefined;
  readonly attempts: Attempt[];
  readonly skipped: SkippedTarget[];
  /** The branch that each conditional chose, in order of evaluation. */
  readonly conditions: ChosenBranch[];
  /** Random numbers used for load balancing. Undefined: none yet. */
  draws: number[] | undefined;
  /** The model as the caller named it. The plugin `config` reads it. */
  askedModel?: string | undefined;
  /** The caller's header names the config, or has it. Undefined: it has no such header. */
  namesConfig?: 'named' | 'inline' | undefined;
  /** Id by which the request can be explained later. */
  explainId: string | undefined;
}

/** The value of a header, and the lower-case name of the client's header that it comes from. */
export interface MappedHeader {
  readonly from: string;
  readonly value: string;
}

/** An alias of the catalog, as one caller may use it. It stands for a target or for a gateway config. */
export interface UsedAlias {
  /** As the request has it. */
  readonly name: string;
  /** Its name in catalog.yaml: `name`, or the wildcard that `name` fits, such as `openai/*`. */
  readonly listed: string;
  /** `@slug/model` */
  readonly target: string | undefined;
  readonly config: string | undefined;
  /** The caller's key lists the alias, and may use what it stands for through it. */
  readonly granted: boolean;
}

/** The part of a request in a conversation that the gateway keeps. */
export interface KeptTurn {
  /** The response is kept, and says so, unless the target's parameters forbid it. */
  readonly keeps: boolean;
  /** The id of the response that the request continues: `input` holds the whole conversation. */
  readonly continues: string | undefined;
  /** Number of output items that took the place of their references. */
  readonly references: number;
  /** Earlier reasoning was left out, because it has no encrypted content. */
  readonly unreadable?: boolean | undefined;
}

/** The version of a prompt that a request uses. */
export interface UsedPrompt {
  readonly id: string;
  readonly version: number;
  /** Parts that values of the caller became. Field rules apply to them as to the caller's own. */
  readonly media: readonly { readonly variable: string; readonly part: Readonly<Record<string, unknown>> }[];
}

/** The branch that a conditional chose. */
export interface ChosenBranch {
  /** Path of the conditional in the config. */
  readonly at: string;
  /** Index of the matching condition; undefined when none matched and `default` applied. */
  readonly condition: number | undefined;
  /** Path of the chosen target or group. */
  readonly to: string;
  /** The values that the conditions compared. */
  readonly tests?: readonly ComparedValue[];
}

export interface SkippedTarget extends PublicSkippedTarget {
  readonly target: Target;
}

export interface GatewayContext extends PublicGatewayContext {
  readonly exchange: Exchange;
  readonly attempt: Attempt | undefined;
}
export interface AttemptContext extends PublicAttemptContext {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
}
