import type { Caller, GatewayConfig, Route, Target } from '../../core/kernel/settings.ts';

/** Creates a caller without restrictions, except that it may not send its own config; `rules` overrides its fields. */
export function createCaller(rules: Partial<Caller> = {}): Caller {
  return {
    keyId: 'test',
    providers: undefined,
    models: undefined,
    configs: undefined,
    defaultConfig: undefined,
    inlineConfigs: false,
    customHosts: undefined,
    ...rules,
  };
}

/** Creates a target without overrides, retries or cache; `parts` overrides its fields. */
export function createTarget(parts: Partial<Target> = {}): Target {
  return {
    kind: 'target',
    path: 'config',
    provider: undefined,
    defaultParams: undefined,
    overrideParams: undefined,
    overrideLevels: parts.overrideParams ? [parts.overrideParams] : [],
    dropParams: [],
    forwardHeaders: [],
    cache: undefined,
    remoteMedia: undefined,
    retry: { attempts: 0, onStatusCodes: new Set(), minDelayMs: 0, maxDelayMs: 0 },
    breaker: {
      enforced: false,
      failures: 5,
      failureRate: 0.5,
      minRequests: 5,
      windowMs: 60_000,
      cooldownMs: 15_000,
      onStatusCodes: new Set([429, 500, 502, 503, 504, 529]),
    },
    commit: 'first_content',
    contextWindow: undefined,
    timeouts: {},
    strict: undefined,
    messagesRoute: 'any',
    ...parts,
  };
}

export function createConfig(parts: Partial<GatewayConfig> = {}): GatewayConfig {
  const route: Route = createTarget();
  return {
    id: 'test',
    hash: 'test-config-hash',
    name: undefined,
    route,
    metadata: undefined,
    deadlineMs: undefined,
    customHosts: undefined,
    replyHeaders: new Set(),
    ...parts,
  };
}
