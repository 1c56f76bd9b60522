import { createHash } from 'node:crypto';
import type {
  CacheSettings as CacheFile,
  GatewayFile,
  MetadataRules as MetadataFile,
  RemoteMedia as RemoteMediaFile,
  Target as TargetFile,
  Timeouts,
} from '../../schemas/types.generated.ts';
import {
  parseBytes,
  parseDuration,
  type CacheSettings,
  type GatewayConfig,
  type MessagesRoute,
  type MetadataRules,
  type RemoteMediaSettings,
  type RetrySettings,
  type Route,
  type TimeoutSettings,
} from '../plugin/index.ts';

/** Statuses that another try may cure. 502 also stands for failed connections, 504 for timeouts; 529 is Anthropic's "overloaded". */
export const RETRYABLE_STATUS_CODES: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

const DEFAULT_RETRY: RetrySettings = {
  attempts: 0,
  onStatusCodes: RETRYABLE_STATUS_CODES,
  minDelayMs: parseDuration('500ms'),
  maxDelayMs: parseDuration('20s'),
};

/** What a target takes from the config around it. */
interface Inherited {
  readonly provider: string | undefined;
  readonly defaultParams: Readonly<Record<string, unknown>> | undefined;
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  readonly dropParams: readonly (readonly string[])[];
  readonly forwardHeaders: readonly string[];
  readonly cache: CacheSettings | undefined;
  readonly remoteMedia: RemoteMediaSettings | undefined;
  readonly retry: RetrySettings;
  readonly timeouts: TimeoutSettings;
  readonly strict: boolean | undefined;
  readonly messagesRoute: MessagesRoute;
}

const NOTHING: Inherited = {
  provider: undefined,
  defaultParams: undefined,
  overrideParams: undefined,
  dropParams: [],
  forwardHeaders: [],
  cache: undefined,
  remoteMedia: undefined,
  retry: DEFAULT_RETRY,
  timeouts: {},
  strict: undefined,
  messagesRoute: 'any',
};

/** A gateway config as requests use it: a tree of targets, each with everything it inherits. */
export function compileGatewayConfig(id: string, file: GatewayFile): GatewayConfig {
  return {
    id,
    hash: createHash('sha256').update(JSON.stringify(file)).digest('hex').slice(0, 16),
    name: file.name,
    route: compileRoute(file, 'config', NOTHING),
    metadata: file.metadata && compileMetadata(file.metadata),
  };
}

function compileRoute(file: GatewayFile | TargetFile, path: string, around: Inherited): Route {
  const own = inherit(around, file);
  if (file.targets === undefined) return { kind: 'target', path, ...own };
  return {
    kind: 'group',
    path,
    mode: file.strategy?.mode ?? 'single',
    onStatusCodes: codes(file.strategy?.on_status_codes) ?? RETRYABLE_STATUS_CODES,
    members: file.targets.map((target, index) => compileRoute(target, `${path}.targets[${index}]`, own)),
    weights: file.targets.map(({ weight = 1 }) => weight),
  };
}

/** The nearer wins, field by field. */
function inherit(around: Inherited, file: GatewayFile | TargetFile): Inherited {
  const { retry = {} } = file;
  return {
    provider: file.provider ?? around.provider,
    defaultParams: merged(around.defaultParams, file.default_params),
    overrideParams: merged(around.overrideParams, file.override_params),
    dropParams: [...around.dropParams, ...(file.drop_params ?? []).map((path) => path.split('.'))],
    forwardHeaders: file.forward_headers?.map((name) => name.toLowerCase()) ?? around.forwardHeaders,
    cache: compileCache(around.cache, file.cache),
    // Whole: what one place allows must not widen what another lists.
    remoteMedia: file.remote_media ? compileRemoteMedia(file.remote_media) : around.remoteMedia,
    retry: {
      attempts: retry.attempts ?? around.retry.attempts,
      onStatusCodes: codes(retry.on_status_codes) ?? around.retry.onStatusCodes,
      minDelayMs: retry.min_delay === undefined ? around.retry.minDelayMs : parseDuration(retry.min_delay),
      maxDelayMs: retry.max_delay === undefined ? around.retry.maxDelayMs : parseDuration(retry.max_delay),
    },
    timeouts: { ...around.timeouts, ...compileTimeouts({ total: file.request_timeout, ...file.timeouts }) },
    strict: file.strict_open_ai_compliance ?? around.strict,
    messagesRoute: file.messages_route ?? around.messagesRoute,
  };
}

/** Only what is set: what is not is for the catalog entry and the server to say. */
export function compileTimeouts(file: { [Name in keyof Timeouts]?: Timeouts[Name] | undefined }): TimeoutSettings {
  const given = [
    ['connect', file.connect],
    ['firstByte', file.first_byte],
    ['firstContent', file.first_content],
    ['idle', file.idle],
    ['total', file.total],
  ] as const;
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, parseDuration(value)]])),
  );
}

const DEFAULT_CACHE: CacheSettings = { maxAgeMs: 300_000, scope: 'key' };

function compileCache(around: CacheSettings | undefined, file: CacheFile | undefined): CacheSettings | undefined {
  if (!file) return around;
  if (file.mode === 'off') return undefined;
  const base = around ?? DEFAULT_CACHE;
  return {
    maxAgeMs: file.max_age === undefined ? base.maxAgeMs : file.max_age * 1000,
    scope: file.scope ?? base.scope,
  };
}

function compileRemoteMedia(file: RemoteMediaFile): RemoteMediaSettings {
  return {
    hosts: file.hosts,
    maxBytes: parseBytes(file.max_bytes ?? '20MiB'),
    maxItems: file.max_items ?? 10,
    timeoutMs: parseDuration(file.timeout ?? '10s'),
    allowInsecure: file.allow_insecure ?? false,
  };
}

function compileMetadata({ required = [], allowed = {}, labels }: MetadataFile): MetadataRules {
  return {
    required,
    allowed: new Map(Object.entries(allowed).map(([key, values]) => [key, new Set(values)])),
    labels: compileLabels(labels),
  };
}

function compileLabels(labels: MetadataFile['labels']): MetadataRules['labels'] {
  if (labels === undefined || labels === false) return undefined;
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
    return [key, isParams(outer) && isParams(value) ? mergeParams(outer, value) : value];
  });
  return Object.fromEntries([...Object.entries(around), ...merged]);
}

function isParams(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const codes = (list: readonly number[] | undefined): ReadonlySet<number> | undefined => list && new Set(list);
