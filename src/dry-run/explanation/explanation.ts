import type { FailureKind, FieldSettings } from '../../plugin/index.ts';

/** Where a value comes from. */
export type FieldSource =
  /** A field of the client's body: `messages.0.content`. */
  | { readonly kind: 'client'; readonly path: string }
  /** A header of the request. */
  | { readonly kind: 'header'; readonly name: string }
  /** A line of the settings. `setting` is the path in the file: `targets.0.override_params.max_tokens`. */
  | {
      readonly kind: 'settings';
      readonly at: SettingPlace;
      readonly setting: string;
      /** The field of the client's body that it was put into, where that is another one than the field it is told of. */
      readonly path?: string;
    }
  /** The gateway itself; `what` says why in a few words. */
  | { readonly kind: 'gateway'; readonly what: string };

/** Lines and columns count from 1. */
export interface SettingPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What `gatehouse explain` tells of one request; the JSON of it is the same. Nothing in it is a secret. */
export interface Explanation {
  readonly settings: { readonly folder: string; readonly hash: string };
  readonly request: RequestExplanation;
  /** Undefined where the request was refused before. */
  readonly caller: CallerExplanation | undefined;
  readonly config: ConfigExplanation | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly deadline: TimeExplanation;
  readonly plugins: readonly PluginExplanation[];
  readonly rules: readonly RulesExplanation[];
  /** In the order they would be asked, each one if all before it failed. */
  readonly targets: readonly TargetExplanation[];
  /** Targets that would not be asked, whatever happens. */
  readonly leftOut: readonly LeftOutExplanation[];
  /** What the gateway itself would answer; undefined where a target would. */
  readonly answer: AnswerExplanation | undefined;
  /** What explain could not know, or did not do. */
  readonly notes: readonly string[];
}

export interface RequestExplanation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Undefined: nothing is served at this path and method. */
  readonly operation: string | undefined;
  readonly bytes: number;
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly strict: boolean | undefined;
  readonly strictParams: boolean;
}

export interface CallerExplanation {
  readonly key: string;
  /** How it was found: `x-gateway-api-key`, `named`, `no key given: one without limits`. */
  readonly found: string;
  readonly at: SettingPlace | undefined;
  readonly providers: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly configs: readonly string[] | undefined;
  readonly defaultConfig: string | undefined;
  readonly inlineConfigs: boolean;
  /** Which fields it may send. Undefined: all. */
  readonly fields: FieldSettings | undefined;
  /** What `Authorization` held beside the key goes upstream where the provider takes it. */
  readonly ownUpstreamToken: boolean;
}

export interface ConfigExplanation {
  readonly id: string;
  readonly hash: string;
  readonly name: string | undefined;
  /** header: `x-gateway-config` names it. inline: it came in that header. key: the key's default. server: the server's. none: the request itself says where to go. */
  readonly found: 'header' | 'inline' | 'key' | 'server' | 'none';
  readonly source: FieldSource;
}

export interface TimeExplanation {
  readonly ms: number;
  readonly source: FieldSource;
}

export interface PluginExplanation {
  readonly chain: 'entry' | 'request' | 'attempt';
  /** Of the attempt chain: number of the target in `targets`. */
  readonly target: number | undefined;
  readonly name: string;
  readonly plugin: string;
  /** Why it is in the chain. */
  readonly on: FieldSource;
  /** not run: explain leaves it out, because it does not say that it is pure. not reached: a plugin before it has answered or refused. */
  readonly state: 'run' | 'not run' | 'not reached';
  readonly does: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** It refused the request. */
  readonly refused: AnswerExplanation | undefined;
}

export interface RulesExplanation {
  /** Path of the conditional in the config. */
  readonly conditional: string;
  readonly conditions: readonly ConditionExplanation[];
  /** Where it led. */
  readonly to: string;
  readonly otherwise: boolean;
}

export interface ConditionExplanation {
  readonly index: number;
  readonly at: SettingPlace | undefined;
  /** Undefined: one before it held, so this one was not asked. */
  readonly holds: boolean | undefined;
  readonly then: string;
  readonly tests: readonly TestExplanation[];
}

/** One comparison, or several under `$and`, `$or`, `$not`. */
export interface TestExplanation {
  /** `metadata.tier`, or `$and`. */
  readonly field: string;
  readonly operator: string | undefined;
  /** What the config compares with. */
  readonly wanted: unknown;
  /** What the request says; left out where it says nothing. */
  readonly found?: unknown;
  /** Undefined: the text is too long for the pattern, and a request that comes to it is refused. */
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
  /** In the load balances around it, the outermost first. */
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
  /** Failures after which the next target would be asked; all others end the chain. */
  readonly nextAfter: { readonly kinds: readonly FailureKind[]; readonly statusCodes: readonly number[] };
  readonly provider: ProviderExplanation | undefined;
  readonly timeouts: Readonly<Record<string, TimeExplanation>>;
  readonly retry: {
    readonly attempts: number;
    readonly onStatusCodes: readonly number[];
    readonly source: FieldSource;
  };
  readonly commit: string;
  /** The client's body as this target's settings leave it. */
  readonly body: unknown;
  readonly changes: readonly ChangeExplanation[];
  /** Undefined where it would be refused before anything is sent. */
  readonly outbound: OutboundExplanation | undefined;
  readonly losses: readonly { readonly param: string; readonly action: string; readonly reason: string }[];
  readonly cache: CacheExplanation | undefined;
  readonly refused: AnswerExplanation | undefined;
  /** Of the metrics a good answer would add to. */
  readonly metrics: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[];
}

export interface ProviderExplanation {
  readonly slug: string;
  readonly provider: string;
  readonly model: string;
  readonly format: string;
  /** Which fields of requests its catalog entry lets pass. Undefined: all. */
  readonly fields: FieldSettings | undefined;
  /** Undefined for a place the request itself names. */
  readonly at: SettingPlace | undefined;
}

/** One field of the client's body that the settings changed. */
export interface ChangeExplanation {
  readonly path: string;
  readonly action: 'set' | 'default' | 'removed';
  /** Left out where it was removed. */
  readonly value?: unknown;
  /** What the client had said; left out where it had said nothing. */
  readonly was?: unknown;
  readonly source: FieldSource;
}

export interface OutboundExplanation {
  readonly method: string;
  readonly url: string;
  readonly urlSources: readonly FieldSource[];
  /** Credentials are `[secret]`. */
  readonly headers: readonly HeaderExplanation[];
  /** Parsed where it is JSON; of a batch the first call's. */
  readonly body: unknown;
  readonly bytes: number;
  /** Calls that one request becomes. */
  readonly calls: number;
  readonly stream: boolean;
  /** Where the leaves of `body` come from. */
  readonly fields: readonly FieldExplanation[];
  /** There where a list is longer than this: fields of the elements behind are not told. */
  readonly fieldsUpTo?: number;
}

export interface HeaderExplanation {
  readonly name: string;
  readonly value: string;
  readonly source: FieldSource;
  /** Of a list that several speakers have a say in. */
  readonly also?: readonly FieldSource[];
  /** The line of the config that lets a caller's header through. */
  readonly allowedBy?: FieldSource;
}

export interface FieldExplanation {
  /** `generationConfig.maxOutputTokens` */
  readonly path: string;
  /** More than one where a field is made of several. */
  readonly sources: readonly FieldSource[];
}

export interface CacheExplanation {
  /** Empty where it is not known. */
  readonly key: string;
  /** What went into it, by name. Credentials are told as `[secret]`. */
  readonly parts: Readonly<Record<string, unknown>>;
  readonly maxAgeMs: number;
  readonly scope: string;
  readonly source: FieldSource;
  /** A kept reply is given, and nobody is asked. */
  readonly hit: boolean;
  /** What would happen now. */
  readonly now: string;
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
