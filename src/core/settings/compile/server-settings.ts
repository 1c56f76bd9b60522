import type { ChainItem, Duration, Limits, Listen, ServerFile, Tls } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../kernel/units.ts';
import type { JsonLimits } from '../../kernel/body/json-scan.ts';
import type { Secret } from '../../../plugin/index.ts';
import type { Timeouts, FormLimits } from '../../kernel/index.ts';
import type { Environment } from '../values/references.ts';

/** Address that `listen` and `status` bind without a host: no listener is open to the network by default. */
const DEFAULT_HOST = '127.0.0.1';

/** Sets the host of both listeners where server.yaml has none; for containers, whose network is their own. */
export const HOST_VARIABLE = 'GATEHOUSE_HOST';

/** server.yaml completed from the environment. A host in the file takes precedence. */
export function withHost(server: ServerFile, env: Environment): ServerFile {
  const host = env[HOST_VARIABLE]?.trim();
  if (!host) return server;
  const complete = (listen: Listen | undefined): Listen => ({ host, ...listen });
  return { ...server, listen: complete(server.listen), status: complete(server.status) };
}

/** The listener for operators, of which a build may have none. */
export interface AdminSettings {
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly token: Secret | undefined;
  /** Role of requests with `token`, and of requests from loopback while there is no token. */
  readonly role: 'viewer' | 'operator' | 'admin';
  /** Names accepted in Host headers, beside those that are always accepted. */
  readonly hosts: readonly string[];
  readonly records: number;
  /** Requests that can be explained afterwards. */
  readonly explain: 'asked' | 'all' | 'none';
  readonly tls?: Pick<Tls, 'cert' | 'key'> | undefined;
}

/** configs/server.yaml with its defaults filled in: times in milliseconds, sizes in bytes. */
export interface ServerSettings {
  readonly listen: Required<Listen>;
  readonly status: Required<Listen>;
  /** Networks of proxies whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[];
  readonly admin: AdminSettings;
  /** Deadline of a whole request, in milliseconds. */
  readonly deadlineMs: number;
  readonly drain: { readonly delayMs: number; readonly timeoutMs: number };
  readonly limits: {
    readonly body: number;
    /** Limits for the JSON of bodies: levels, keys of an object, items of a list. */
    readonly json: JsonLimits;
    readonly header: number;
    readonly reply: number;
    readonly holdBytes: number;
    readonly holdMs: number;
    readonly inlineConfig: number;
    readonly connections: number;
    /** Concurrent requests. */
    readonly inFlight: number;
    /** Concurrent requests of one key while most of `inFlight` is taken. */
    readonly inFlightPerKey: number;
    /** Bytes of the bodies of concurrent requests. */
    readonly inFlightBytes: number;
    readonly inFlightBytesPerKey: number;
    /** Requests with large bodies that may wait in the queue. */
    readonly largeBodies: number;
    /** Requests of one connection that are served concurrently. */
    readonly pipelined: number;
    /** Multipart forms for models. */
    readonly form: FormLimits;
    readonly headerMs: number;
    readonly bodyMs: number;
    /** Time within which an external plugin must call `next`. */
    readonly pluginMs: number;
    readonly commitBytes: number;
    readonly commitMs: number;
  };
  readonly timeouts: Timeouts;
  readonly headerPrefixes: readonly string[];
  readonly defaultConfig: string | undefined;
  readonly chains: {
    readonly entry: readonly ChainItem[];
    readonly request: readonly ChainItem[];
    readonly attempt: readonly ChainItem[];
  };
  /** Modules with plugins; paths are relative to the settings folder. */
  readonly plugins: readonly string[];
  readonly cache: {
    readonly maxBytes: number;
    readonly maxEntryBytes: number;
  };
  readonly reload: { readonly watch: boolean; readonly debounceMs: number };
  readonly egress: { readonly tokenUris: readonly string[] };
  readonly telemetry: {
    /** Undefined: records are in no files. */
    readonly records:
      | {
          readonly dir: string;
          readonly maxFileBytes: number;
          readonly maxBytes: number;
          readonly maxAgeMs: number;
        }
      | undefined;
    readonly log: { readonly level: LogLevel; readonly access: 'all' | 'errors' | 'off' };
    /** Metadata keys that are labels of counters. */
    readonly metrics: {
      readonly metadata: readonly string[];
      /** The plugins that have metrics of their own. */
      readonly plugins: 'external' | 'all' | 'off';
    };
  };
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fills in the defaults, which the schema documents for people and editors; a test compares the two. */
export function compileServerSettings(file: ServerFile): ServerSettings {
  const { drain = {}, limits = {}, chains = {}, cache = {}, reload = {}, telemetry = {} } = file;
  return {
    listen: { host: DEFAULT_HOST, port: 8787, ...file.listen },
    status: { host: DEFAULT_HOST, port: 9464, ...file.status },
    trustedProxies: file.trusted_proxies ?? [],
    admin: adminSettings(file),
    deadlineMs: parseDuration(file.deadline ?? '15m'),
    drain: { delayMs: parseDuration(drain.delay ?? '5s'), timeoutMs: parseDuration(drain.timeout ?? '30s') },
    limits: compileLimits(limits),
    timeouts: compileServerTimeouts(file),
    headerPrefixes: headerPrefixes(file),
    defaultConfig: file.default_config,
    chains: compileChains(chains),
    plugins: file.plugins ?? [],
    cache: compileCacheStore(cache),
    reload: { watch: reload.watch ?? true, debounceMs: parseDuration(reload.debounce ?? '500ms') },
    egress: { tokenUris: file.egress?.token_uris ?? [] },
    telemetry: compileTelemetry(telemetry),
  };
}

const compileCacheStore = ({
  max_bytes,
  max_entry_bytes,
}: NonNullable<ServerFile['cache']>): ServerSettings['cache'] => ({
  maxBytes: parseBytes(max_bytes ?? '64MiB'),
  maxEntryBytes: parseBytes(max_entry_bytes ?? '1MiB'),
});

type CompileAdmin = (file: ServerFile) => AdminSettings;

let ofAdmin: CompileAdmin = () => ({
  enabled: false,
  host: DEFAULT_HOST,
  port: 0,
  token: undefined,
  role: 'viewer',
  hosts: [],
  records: 0,
  explain: 'none',
  tls: undefined,
});
export const adminSettings: CompileAdmin = (file) => ofAdmin(file);

/** Called while the add-on that has the listener is registered. */
export const setAdminSettings = (compile: CompileAdmin): void => void (ofAdmin = compile);

/** Add-ons put their plugins into these defaults (compose/snapshot-part.ts). */
const compileChains = (chains: NonNullable<ServerFile['chains']>): ServerSettings['chains'] => ({
  entry: chains.entry ?? ['telemetry', 'errors', 'auth', 'models', 'body', 'config'],
  request: chains.request ?? ['metadata', 'route'],
  attempt: chains.attempt ?? ['override', 'cache', 'transform', 'retry', 'send'],
});

/** The default share of one key in a limit. */
const quarter = (whole: number): number => Math.max(1, Math.floor(whole / 4));

function compileLimits(limits: Limits): ServerSettings['limits'] {
  return {
    body: parseBytes(limits.body ?? '48MiB'),
    json: { depth: limits.json_depth ?? 64, keys: limits.json_keys ?? 10_000, items: limits.json_items ?? 200_000 },
    form: {
      bytes: parseBytes(limits.form ?? '512MiB'),
      held: parseBytes(limits.form_held ?? '32MiB'),
      idleMs: parseDuration(limits.form_idle_time ?? '30s'),
    },
    header: parseBytes(limits.header ?? '16KiB'),
    reply: parseBytes(limits.reply ?? '64MiB'),
    holdBytes: parseBytes(limits.hold_bytes ?? '1MiB'),
    holdMs: parseDuration(limits.hold_time ?? '15s'),
    inlineConfig: parseBytes(limits.inline_config ?? '64KiB'),
    headerMs: parseDuration(limits.header_time ?? '15s'),
    bodyMs: parseDuration(limits.body_time ?? '120s'),
    pluginMs: parseDuration(limits.plugin_time ?? '30s'),
    commitBytes: parseBytes(limits.commit_bytes ?? '16MiB'),
    commitMs: parseDuration(limits.commit_time ?? '120s'),
    ...compileLoadLimits(limits),
  };
}

/** Limits that all concurrent requests share. */
function compileLoadLimits(limits: Limits) {
  const inFlight = limits.in_flight ?? 2000;
  const inFlightBytes = parseBytes(limits.in_flight_bytes ?? '512MiB');
  return {
    connections: limits.connections ?? inFlight,
    inFlight,
    inFlightPerKey: limits.in_flight_per_key ?? quarter(inFlight),
    inFlightBytes,
    inFlightBytesPerKey: parseBytes(limits.in_flight_bytes_per_key ?? quarter(inFlightBytes)),
    pipelined: limits.pipelined ?? 16,
    largeBodies: limits.large_bodies ?? 64,
  };
}

function compileServerTimeouts({ timeouts = {} }: ServerFile): Timeouts {
  const time = (value: Duration | undefined, byDefault: string) => parseDuration(value ?? byDefault);
  return {
    connect: time(timeouts.connect, '5s'),
    firstByte: time(timeouts.first_byte, '600s'),
    firstByteOfStream: time(timeouts.first_byte, '120s'),
    firstContent: time(timeouts.first_content, '180s'),
    idle: time(timeouts.idle, '300s'),
    total: time(timeouts.total, '900s'),
  };
}

function compileTelemetry({
  log = {},
  metrics = {},
  records,
}: NonNullable<ServerFile['telemetry']>): ServerSettings['telemetry'] {
  return {
    records: records && {
      dir: records.dir,
      maxFileBytes: parseBytes(records.max_file_bytes ?? '64MiB'),
      maxBytes: parseBytes(records.max_bytes ?? '1GiB'),
      maxAgeMs: parseDuration(records.max_age ?? '168h'),
    },
    log: { level: log.level ?? 'info', access: log.access ?? 'all' },
    metrics: { metadata: metrics.metadata ?? [], plugins: metrics.plugins ?? 'external' },
  };
}

/** Prefixes of the gateway's own headers, each with its final `-`. A bare word stands for `x-WORD-`. */
export const headerPrefixes = (file: Pick<ServerFile, 'header_prefixes'> | undefined): readonly string[] =>
  (file?.header_prefixes ?? ['gateway']).map((prefix) => (prefix.endsWith('-') ? prefix : `x-${prefix}-`));
