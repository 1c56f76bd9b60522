/** One destination with all inherited settings. */
export interface Target {
  readonly kind: 'target';
  /** Path in the config, in the notation of `x-gateway-last-used-option-index`: `config`, `config.targets[1]`. */
  readonly path: string;
  /** Its own name in the config, else that of the group around it. */
  readonly name?: string | undefined;
  /** `@slug` or a provider name. */
  readonly provider: string | undefined;
  /** All override levels merged into one, for reading. */
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  /** Context window of the model in tokens, if the config declares it. */
  readonly contextWindow: number | undefined;
}

/** Targets of which the plugin `route` chooses: a fallback, a load balance, or a conditional. */
export interface TargetGroup {
  readonly kind: 'group' | 'conditional';
  readonly path: string;
  readonly members: readonly (Target | TargetGroup)[];
}

/** A gateway config, compiled. */
export interface GatewayConfig {
  /** File name without `.yaml`; `''` for a request without a config, `'inline'` for one that came with the request. */
  readonly id: string;
  /** Hash of the config's content: equal hashes mean equal behaviour. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly route: Target | TargetGroup;
}

/** Upstream hosts that a caller may choose. */
export interface CustomHostSettings {
  /** Lower-case globs, with a port when it is not the scheme's default. */
  readonly hosts: readonly string[];
  readonly allowInsecure: boolean;
}

/** The matching entry of keys.yaml, or what a plugin puts in its place. */
export interface Caller {
  readonly keyId: string;
  /** Id of the team, whose budgets and limits count: that of the key, or of a plugin's choice. It must exist. */
  readonly team?: string | undefined;
  /** Id of the organization of the team. */
  readonly organization?: string | undefined;
  /** The person or service that is responsible for the key. */
  readonly owner?: string | undefined;
  readonly providers: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly configs: readonly string[] | undefined;
  readonly defaultConfig: string | undefined;
  /** The caller may send its own config in `x-gateway-config`. */
  readonly inlineConfigs: boolean;
  /** Undefined: none, unless the gateway config allows some. */
  readonly customHosts: CustomHostSettings | undefined;
  /** Metadata of every request with the key, which its caller cannot change. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}
