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

/** One destination with everything it inherits. */
export interface Target {
  readonly kind: 'target';
  /** Place in the config, as `x-gateway-last-used-option-index` says it: `config`, `config.targets[1]`. */
  readonly path: string;
  /** `@slug` or a provider name. */
  readonly provider: string | undefined;
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  readonly retry: RetrySettings;
  readonly timeouts: TimeoutSettings;
  readonly strict: boolean | undefined;
}

export interface Group {
  readonly kind: 'group';
  readonly path: string;
  readonly mode: 'single' | 'fallback';
  readonly onStatusCodes: ReadonlySet<number>;
  readonly members: readonly Route[];
}

export type Route = Target | Group;

export interface GatewayConfig {
  /** File name without `.yaml`; `''` for a request without a config. */
  readonly id: string;
  readonly name: string | undefined;
  readonly route: Route;
}

/** Who is calling: the entry of keys.yaml that matched. */
export interface Caller {
  readonly keyId: string;
  readonly providers: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly configs: readonly string[] | undefined;
  readonly defaultConfig: string | undefined;
}
