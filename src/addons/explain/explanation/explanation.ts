import type { FailureKind } from '../../../plugin/index.ts';
import type { FieldSettings } from '../../../core/kernel/index.ts';

export type FieldSource =
  /** A field of the client's body: `messages.0.content`. */
  | { readonly kind: 'client'; readonly path: string }
  | { readonly kind: 'header'; readonly name: string }
  /** A line of the settings. `setting` is the path in the file: `targets.0.override_params.max_tokens`. */
  | {
      readonly kind: 'settings';
      readonly at: SettingPlace;
      readonly setting: string;
      /** The field of the client's body that it set, if that differs from the described field. */
      readonly path?: string;
    }
  /** A plugin; `on` is its place in the settings, undefined in a default chain. */
  | { readonly kind: 'plugin'; readonly plugin: string; readonly on: SettingPlace | undefined }
  /** The gateway itself; `what` is the reason, as a short phrase. */
  | { readonly kind: 'gateway'; readonly what: string };

/** Lines and columns count from 1. */
export interface SettingPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The explanation of one request, as `gatehouse explain` prints it and as its JSON. Contains no secret. */
export interface Explanation {
  readonly settings: { readonly folder: string; readonly hash: string };
  readonly request: RequestExplanation;
  /** Undefined when the request was rejected earlier. */
  readonly caller: CallerExplanation | undefined;
  readonly config: ConfigExplanation | undefined;
  /** The prompt that was written into the request; absent without one. */
  readonly prompt?: PromptExplanation;
  readonly metadata: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly deadline: TimeExplanation;
  readonly plugins: readonly PluginExplanation[];
  readonly rules: readonly RulesExplanation[];
  /** In order of trial: each target is tried if all earlier ones fail. */
  readonly targets: readonly TargetExplanation[];
  readonly leftOut: readonly LeftOutExplanation[];
  /** The gateway's own reply; undefined when a target would answer. */
  readonly answer: AnswerExplanation | undefined;
  /** Headers that plugins set on the reply, on `answer` or the first target's, without the usual ones. */
  readonly replyHeaders: readonly HeaderExplanation[];
  /** Facts that explain could not determine, and steps that it skipped. */
  readonly notes: readonly string[];
}

export interface RequestExplanation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Undefined: no operation has this path and method. */
  readonly operation: string | undefined;
  readonly bytes: number;
  /** As the request names it. */
  readonly model: string | undefined;
  /** Present when the model is an alias: `@slug/model`, or `config ID`, and its line. */
  readonly alias?: { readonly of: string; readonly at: SettingPlace | undefined };
  readonly stream: boolean;
  readonly strict: boolean | undefined;
  readonly strictParams: boolean;
}

export interface CallerExplanation {
  readonly key: string;
  /** How it was found: `x-gateway-api-key`, `named`, `no key given: explained for a key without limits`. */
  readonly found: string;
  readonly at: SettingPlace | undefined;
  readonly providers: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly configs: readonly string[] | undefined;
  readonly defaultConfig: string | undefined;
  readonly inlineConfigs: boolean;
  readonly inlinePlugins: boolean;
  /** The fields that it may send. Undefined: all. */
  readonly fields: FieldSettings | undefined;
  /** The caller's token in `Authorization` is sent upstream if the provider accepts it. */
  readonly ownUpstreamToken: boolean;
}

export interface ConfigExplanation {
  readonly id: string;
  readonly hash: string;
  readonly name: string | undefined;
  /**
   * header: `x-gateway-config` names it. inline: it came in that header. key: the key's default. server: the server's
   * default. none: the request itself names its target. alias: the model is an alias of the config.
   */
  readonly found: 'header' | 'inline' | 'key' | 'server' | 'none' | 'alias';
  readonly source: FieldSource;
}

export interface PromptExplanation {
  readonly id: string;
  readonly version: number;
  /** Undefined for a draft. */
  readonly digest: string | undefined;
  readonly at: SettingPlace;
  /** As written in the request's path: `summary@production`. */
  readonly asked: string;
  /** The line of the pin in the gateway config. */
  readonly pinned?: FieldSource;
  /** The messages of the prompt as they are sent; empty where the request has its own. */
  readonly messages: readonly PromptMessageExplanation[];
}

interface PromptMessageExplanation {
  readonly role: string;
  /** Text, or a list of parts. */
  readonly content: unknown;
  readonly at: SettingPlace;
}

export interface TimeExplanation {
  readonly ms: number;
  readonly source: FieldSource;
}

export interface PluginExplanation {
  readonly chain: 'entry' | 'request' | 'attempt';
  /** In the attempt chain: index of the target in `targets`. */
  readonly target: number | undefined;
  readonly name: string;
  readonly plugin: string;
  readonly on: FieldSource;
  /** The list of the config or target that does not name it; `always: true` at `on` keeps it there. */
  readonly keptIn?: FieldSource | undefined;
  /** The list of changes that sets options of it. */
  readonly optionsFrom?: FieldSource | undefined;
  /**
   * not run: explain skips it, because it is not declared pure. left out: it has nothing to do here. not reached: an
   * earlier plugin has answered or rejected the request.
   */
  readonly state: 'run' | 'not run' | 'left out' | 'not reached';
  readonly does: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly refused: AnswerExplanation | undefined;
}

export interface RulesExplanation {
  /** Path of the conditional in the config. */
  readonly conditional: string;
  readonly conditions: readonly ConditionExplanation[];
  /** Path of the chosen target or group. */
  readonly to: string;
  readonly otherwise: boolean;
}

export interface ConditionExplanation {
  readonly index: number;
  readonly at: SettingPlace | undefined;
  /** Undefined: an earlier condition matched, so this one was not evaluated. */
  readonly holds: boolean | undefined;
  readonly then: string;
  readonly tests: readonly TestExplanation[];
}

/** One comparison, or several under `$and`, `$or`, `$not`. */
export interface TestExplanation {
  /** `metadata.tier`, or `$and`. */
  readonly field: string;
  readonly operator: string | undefined;
  readonly wanted: unknown;
  /** The value in the request; absent when it has none. */
  readonly found?: unknown;
  /** Undefined: the text is too long for the pattern, and the condition would reject the request. */
  readonly holds: boolean | undefined;
  readonly at: SettingPlace | undefined;
  readonly inner?: readonly TestExplanation[];
}

export interface TargetExplanation {
  readonly number: number;
  /** Path in the config: `config.targets[1]`. */
  readonly target: string;
  readonly name: string | undefined;
  readonly at: SettingPlace | undefined;
  readonly why: string;
  /** Its shares in the enclosing load balances, outermost first. */
  readonly shares: readonly {
    readonly group: string;
    readonly weight: number;
    readonly of: number;
    readonly at: SettingPlace | undefined;
  }[];
  readonly health: {
    readonly state: 'closed' | 'open' | 'half_open';
    readonly retryInMs: number | undefined;
    readonly enforced: boolean;
  };
  /** Failures that fall through to the next target; all others end the chain. */
  readonly nextAfter: { readonly kinds: readonly FailureKind[]; readonly statusCodes: readonly number[] };
  readonly provider: ProviderExplanation | undefined;
  /** Absent where no day is known on which the provider ends the model. */
  readonly retires?: RetirementExplanation | undefined;
  readonly timeouts: Readonly<Record<string, TimeExplanation>>;
  readonly retry: {
    readonly attempts: number;
    readonly onStatusCodes: readonly number[];
    readonly source: FieldSource;
  };
  readonly commit: string;
  /** The form in which the reply passes the plugins; absent where no plugin has hooks. */
  readonly reply?: string | undefined;
  readonly body: unknown;
  readonly changes: readonly ChangeExplanation[];
  /** Undefined when the request would be rejected before anything is sent. */
  readonly outbound: OutboundExplanation | undefined;
  readonly losses: readonly { readonly param: string; readonly action: string; readonly reason: string }[];
  /** Fields that the caller omitted and the target demands. */
  readonly defaulted: readonly DefaultExplanation[];
  readonly cache: CacheExplanation | undefined;
  readonly refused: AnswerExplanation | undefined;
  readonly metrics: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[];
}

export interface RetirementExplanation {
  /** `2027-01-22`, UTC. */
  readonly day: string;
  readonly successor: string | undefined;
  /** Smaller limits of the successor, and abilities that it lacks and this request uses. */
  readonly loses: readonly string[];
}

interface DefaultExplanation {
  readonly param: string;
  readonly value: number;
  readonly reason: string;
  /** The line that decides about this default. */
  readonly source: FieldSource;
}

export interface ProviderExplanation {
  readonly slug: string;
  readonly provider: string;
  readonly model: string;
  readonly format: string;
  /** The request fields that its catalog entry allows. Undefined: all. */
  readonly fields: FieldSettings | undefined;
  /** Undefined for a destination that the request itself names. */
  readonly at: SettingPlace | undefined;
}

export interface ChangeExplanation {
  readonly path: string;
  readonly action: 'set' | 'default' | 'removed';
  readonly value?: unknown;
  /** The client's value; absent when it sent none. */
  readonly was?: unknown;
  readonly source: FieldSource;
}

export interface OutboundExplanation {
  readonly method: string;
  readonly url: string;
  readonly urlSources: readonly FieldSource[];
  /** Credentials are `[secret]`. */
  readonly headers: readonly HeaderExplanation[];
  /** Parsed if it is JSON; for a batch, the first call's body. */
  readonly body: unknown;
  readonly bytes: number;
  readonly calls: number;
  readonly stream: boolean;
  /** The client's body against `body`, in the order of the client's. Empty when both are equal. */
  readonly diff: readonly DifferenceExplanation[];
}

export interface HeaderExplanation {
  readonly name: string;
  readonly value: string;
  readonly source: FieldSource;
  /** Further sources of a value that is a combined list. */
  readonly also?: readonly FieldSource[];
  /** The line of the config that forwards the caller's header. */
  readonly allowedBy?: FieldSource;
}

/** One place where the sent body differs from the client's. Values are JSON; a long one is cut. */
export interface DifferenceExplanation {
  /** `generationConfig.maxOutputTokens`; empty for a whole body that is not JSON. */
  readonly path: string;
  /** Absent when the client sent nothing here. */
  readonly received?: string;
  /** Absent when nothing is sent here. */
  readonly sent?: string;
  /** The setting or plugin that set or removed it. Undefined: the translation. */
  readonly source?: FieldSource;
}

export interface CacheExplanation {
  /** Empty when it is not known. */
  readonly key: string;
  /** Its parts by name. Credentials are `[secret]`. */
  readonly parts: Readonly<Record<string, unknown>>;
  readonly maxAgeMs: number;
  readonly scope: string;
  readonly source: FieldSource;
  /** A cached reply would be used, and nothing sent upstream. */
  readonly hit: boolean;
  readonly now: string;
  /** The result of comparing texts by meaning; undefined where the config compares exactly. */
  readonly near: string | undefined;
}

export interface LeftOutExplanation {
  readonly target: string;
  readonly name: string | undefined;
  readonly at: SettingPlace | undefined;
  readonly reason: string;
}

export interface AnswerExplanation {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly param: string | null;
}
