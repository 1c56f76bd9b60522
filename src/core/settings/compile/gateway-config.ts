import { createHash } from 'node:crypto';
import type * as File from '../../../../schemas/types.generated.ts';
import { FAILURE_KINDS } from '../../../plugin/failures.ts';
import {
  isObject,
  parseSeconds,
  type BreakerSettings,
  type CacheSettings,
  type Conditional,
  type GatewayConfig,
  type FallThroughRules,
  type HashField,
  type MetadataRules,
  type NamedChain,
  type RemoteMediaSettings,
  type RetrySettings,
  type Route,
  type Target,
  type UnwantedReplies,
} from '../../kernel/index.ts';
import { parseBytes, parseDuration } from '../../kernel/units.ts';
import { readTimeouts } from '../../kernel/timeouts.ts';
import type { CustomHostSettings } from '../../../plugin/config.ts';
import type { FailureKind } from '../../../plugin/index.ts';
import { readField } from '../query/fields.ts';
import { comparedBy } from '../query/compared.ts';
import { compileQuery } from '../query/predicate.ts';
import { addedToCache, addedToConfig, addedToTarget } from './added-parts.ts';
import { NO_ALIASES, withAliasedModels, type AliasedModels } from './aliased-models.ts';

/** Statuses worth a retry. 502 also stands for failed connections, 504 for timeouts; 529 is Anthropic's "overloaded". */
export const RETRYABLE_STATUS_CODES: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

const DEFAULT_RETRY: RetrySettings = {
  attempts: 0,
  onStatusCodes: RETRYABLE_STATUS_CODES,
  minDelayMs: parseDuration('500ms'),
  maxDelayMs: parseDuration('20s'),
};

/** Without a configured breaker its defaults still define which targets count as healthy. */
const DEFAULT_BREAKER: BreakerSettings = {
  enforced: false,
  failures: 5,
  failureRate: 0.5,
  minRequests: 5,
  windowMs: parseDuration('60s'),
  cooldownMs: parseDuration('15s'),
  onStatusCodes: new Set([401, 402, 429, 500, 502, 503, 504, 529]),
  // A caller's own refused token must not open the way to a target that the gateway pays for.
  onTokenStatusCodes: new Set([429, 500, 502, 503, 504, 529]),
};

type Inherited = Omit<Target, 'kind' | 'path' | 'contextWindow' | 'aliases'>;

const NOTHING: Inherited = {
  provider: undefined,
  defaultParams: undefined,
  overrideParams: undefined,
  overrideLevels: [],
  dropParams: [],
  forwardHeaders: [],
  cache: undefined,
  remoteMedia: undefined,
  retry: DEFAULT_RETRY,
  breaker: DEFAULT_BREAKER,
  commit: 'first_content',
  unwanted: undefined,
  timeouts: {},
  strict: undefined,
  messagesRoute: 'any',
  chain: undefined,
};

/** The chains that one list names. Undefined: the level is inherited. */
export interface NamedChainsOfList {
  readonly request: NamedChain | undefined;
  readonly attempt: NamedChain | undefined;
}
export type NamedChains = ReadonlyMap<File.ChainList, NamedChainsOfList>;
const NO_CHAINS: NamedChains = new Map();

/** The definitions outside the file that a config names. */
interface OutsideNames {
  /** Default: the server's chains, whatever `plugins` names. */
  readonly chains?: NamedChains | undefined;
  /** Default: a name is no alias. */
  readonly aliases?: AliasedModels | undefined;
}

/** Compiles a gateway config to the form that requests use: a tree of targets, each with all its inherited settings. */
export function compileGatewayConfig(id: string, file: File.GatewayFile, named: OutsideNames = {}): GatewayConfig {
  const { chains = NO_CHAINS, aliases = NO_ALIASES } = named;
  return {
    id,
    hash: hashOfConfig(file),
    name: file.name,
    route: compileRoute(file, 'config', { around: NOTHING, added: {}, chains, aliases }),
    metadata: file.metadata && compileMetadata(file.metadata),
    deadlineMs: file.deadline === undefined ? undefined : parseDuration(file.deadline),
    customHosts: compileCustomHosts(file.custom_hosts),
    replyHeaders: new Set(file.reply_headers),
    ...addedToConfig(file),
    chain: file.plugins && chains.get(file.plugins)?.request,
  };
}

/** Identifies a config as its file has it. */
export const hashOfConfig = (file: File.GatewayFile): string =>
  createHash('sha256').update(JSON.stringify(file)).digest('hex').slice(0, 16);

interface Outer {
  readonly around: Inherited;
  /** By add-ons, with what the target inherits of theirs. */
  readonly added: Partial<Target>;
  readonly chains: NamedChains;
  readonly aliases: AliasedModels;
  /** Of the target, or of the group around it. The name of a config names none of its targets. */
  readonly name?: string | undefined;
}

function compileRoute(
  file: File.GatewayFile | File.Target,
  path: string,
  { around, added, chains, aliases, name }: Outer,
): Route {
  const own = { ...inherit(around, file, chains), ...added };
  if (file.targets === undefined) {
    const contextWindow = 'context_window' in file ? file.context_window : undefined;
    return {
      kind: 'target',
      path,
      ...(name !== undefined && { name }),
      contextWindow,
      ...withAliasedModels(own, aliases),
    };
  }
  const members = file.targets.map((target, index) =>
    compileRoute(target, `${path}.targets[${index}]`, {
      around: own,
      added: addedToTarget(target, own),
      chains,
      aliases,
      name: target.name ?? name,
    }),
  );
  const { mode = 'single', sticky, ...strategy } = file.strategy ?? {};
  if (mode === 'conditional') return compileConditional(file, path, members);
  return {
    kind: 'group',
    path,
    mode,
    fallsThrough: compileRules(strategy),
    members,
    weights: file.targets.map(({ weight = 1 }) => weight),
    sticky: sticky && { fields: sticky.hash_fields.map(hashField), ttlMs: parseDuration(sticky.ttl ?? '1h') },
  };
}

const FAILURE_KIND_NAMES = Object.keys(FAILURE_KINDS) as readonly FailureKind[];
const FALLS_THROUGH_BY_DEFAULT = FAILURE_KIND_NAMES.filter((kind) => FAILURE_KINDS[kind].fallsThrough);

/** `on_errors` replaces the default kinds. `unsupported` cannot be configured and always falls through. */
function compileRules(strategy: Partial<File.Strategy>): FallThroughRules {
  const { on_status_codes, on_errors, on_finish_reasons, stop_on_errors } = strategy;
  const kinds = on_errors ?? (on_status_codes ? [] : (['default'] as const));
  const always: readonly FailureKind[] = on_finish_reasons ? ['unsupported', 'finish_reason'] : ['unsupported'];
  return {
    kinds: new Set([...kinds.flatMap((kind) => (kind === 'default' ? FALLS_THROUGH_BY_DEFAULT : kind)), ...always]),
    statusCodes: new Set(on_status_codes),
    stop: new Set(stop_on_errors),
  };
}

/** The checks ensure that every name exists. A file with mistakes is compiled too, because the checks read the result. */
function compileConditional(
  file: File.GatewayFile | File.Target,
  path: string,
  members: readonly Route[],
): Conditional {
  const { strategy: { conditions = [], default: otherwise } = {}, targets = [] } = file;
  const named = (wanted: string | undefined): Route =>
    members[targets.findIndex(({ name }) => name !== undefined && name === wanted)] ?? members[0]!;
  return {
    kind: 'conditional',
    path,
    branches: conditions.map(({ query, then }) => ({ holds: compileQuery(query), query, member: named(then) })),
    compared: comparedBy(conditions.map(({ query }) => query)),
    otherwise: named(otherwise),
    members,
  };
}

export function hashField(text: string): HashField {
  if (text === 'caller') return ({ caller }) => caller?.keyId;
  // The checks report what cannot be read.
  return readField(text, () => {})?.read ?? (() => undefined);
}

/** Merges field by field; the target's own settings take precedence over inherited ones. */
function inherit(around: Inherited, file: File.GatewayFile | File.Target, chains: NamedChains): Inherited {
  const { retry = {} } = file;
  return {
    provider: file.provider ?? around.provider,
    defaultParams: merged(around.defaultParams, file.default_params),
    overrideParams: merged(around.overrideParams, file.override_params),
    overrideLevels: file.override_params ? [...around.overrideLevels, file.override_params] : around.overrideLevels,
    dropParams: [...around.dropParams, ...(file.drop_params ?? []).map((path) => path.split('.'))],
    forwardHeaders: file.forward_headers?.map((name) => name.toLowerCase()) ?? around.forwardHeaders,
    cache: compileCache(around.cache, file.cache),
    // Replaced as a whole: an inherited bound must not widen the target's list of hosts.
    remoteMedia: file.remote_media ? compileRemoteMedia(file.remote_media) : around.remoteMedia,
    retry: {
      attempts: retry.attempts ?? around.retry.attempts,
      onStatusCodes: codes(retry.on_status_codes) ?? around.retry.onStatusCodes,
      minDelayMs: retry.min_delay === undefined ? around.retry.minDelayMs : parseDuration(retry.min_delay),
      maxDelayMs: retry.max_delay === undefined ? around.retry.maxDelayMs : parseDuration(retry.max_delay),
    },
    breaker: compileBreaker(around.breaker, file.circuit_breaker),
    commit: file.commit ?? around.commit,
    unwanted: compileUnwanted(around.unwanted, file.strategy),
    timeouts: { ...around.timeouts, ...readTimeouts({ total: file.request_timeout, ...file.timeouts }) },
    strict: file.strict_open_ai_compliance ?? around.strict,
    messagesRoute: file.messages_route ?? around.messagesRoute,
    chain: (file.plugins && chains.get(file.plugins)?.attempt) ?? around.chain,
    defaultMaxTokens: file.default_max_tokens ?? around.defaultMaxTokens,
    onUnreadablePart: file.on_unreadable_part ?? around.onUnreadablePart,
  };
}

function compileBreaker(around: BreakerSettings, file: File.CircuitBreaker | undefined): BreakerSettings {
  if (!file) return around;
  return {
    enforced: true,
    failures: file.failures ?? around.failures,
    failureRate: file.failure_rate ?? around.failureRate,
    minRequests: file.min_requests ?? around.minRequests,
    windowMs: file.window === undefined ? around.windowMs : parseDuration(file.window),
    cooldownMs: file.cooldown === undefined ? around.cooldownMs : parseDuration(file.cooldown),
    onStatusCodes: codes(file.on_status_codes) ?? around.onStatusCodes,
    onTokenStatusCodes: codes(file.on_status_codes) ?? around.onTokenStatusCodes,
  };
}

/** A reply fails by the rules of every group around its target. The group that has the rule falls through. */
function compileUnwanted(around: UnwantedReplies | undefined, strategy: File.Strategy | undefined): Target['unwanted'] {
  const { on_errors = [], on_finish_reasons = [] } = strategy ?? {};
  const empty = on_errors.includes('empty');
  if (!empty && on_finish_reasons.length === 0) return around;
  return {
    empty: empty || (around?.empty ?? false),
    finishReasons: new Set([...(around?.finishReasons ?? []), ...on_finish_reasons]),
  };
}

export const compileCustomHosts = (file: File.CustomHosts | undefined): CustomHostSettings | undefined =>
  file && { hosts: file.hosts, allowInsecure: file.allow_insecure ?? false };

const DEFAULT_CACHE: CacheSettings = { maxAgeMs: 300_000, scope: 'key' };

function compileCache(
  around: CacheSettings | undefined,
  file: File.CacheSettings | undefined,
): CacheSettings | undefined {
  if (!file) return around;
  if (file.mode === 'off') return undefined;
  const base = around ?? DEFAULT_CACHE;
  return {
    maxAgeMs: file.max_age === undefined ? base.maxAgeMs : parseSeconds(file.max_age),
    scope: file.scope ?? base.scope,
    ...addedToCache(file, around),
  };
}

const compileRemoteMedia = (file: File.RemoteMedia): RemoteMediaSettings => ({
  hosts: file.hosts ?? [],
  pass: file.pass ?? false,
  maxBytes: parseBytes(file.max_bytes ?? '20MiB'),
  maxItems: file.max_items ?? 10,
  timeoutMs: parseDuration(file.timeout ?? '10s'),
  allowInsecure: file.allow_insecure ?? false,
});

const compileMetadata = ({ required = [], allowed = {}, labels }: File.MetadataRules): MetadataRules => ({
  required,
  allowed: new Map(Object.entries(allowed).map(([key, values]) => [key, new Set(values)])),
  labels: compileLabels(labels),
});

function compileLabels(labels: File.MetadataRules['labels']): MetadataRules['labels'] {
  if (!labels) return undefined;
  if (labels === true) return 'all';
  return new Map(Array.isArray(labels) ? labels.map((key) => [key, key]) : Object.entries(labels));
}

type Params = Readonly<Record<string, unknown>>;

const merged = (around: Params | undefined, nearer: Params | undefined): Params | undefined =>
  nearer ? mergeParams(around ?? {}, nearer) : around;

/** Objects merge key by key, everything else is replaced; a null stays, because it deletes the field from the request. */
function mergeParams(around: Params, nearer: Params): Params {
  const merged = Object.entries(nearer).map(([key, value]): [string, unknown] => {
    const outer = Object.hasOwn(around, key) ? around[key] : undefined;
    return [key, isObject(outer) && isObject(value) ? mergeParams(outer, value) : value];
  });
  return Object.fromEntries([...Object.entries(around), ...merged]);
}

const codes = (list: readonly number[] | undefined): ReadonlySet<number> | undefined => list && new Set(list);
