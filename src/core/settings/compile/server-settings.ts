import type { ChainItem, Duration, Limits, Listen, ServerFile, Tls } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../kernel/units.ts';
import type { PluginLevel, Secret } from '../../../plugin/index.ts';
import type { Placed } from '../../kernel/report.ts';
import type { Timeouts } from '../../kernel/index.ts';
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
  readonly explain: 'asked' | 'all' | 'none';
  /** Whether requests with `token`, and those that need none, may read the texts of requests. */
  readonly content: boolean;
  readonly publicUrl: string | undefined;
  readonly tls?: Pick<Tls, 'cert' | 'key'> | undefined;
}

/** configs/server.yaml with its defaults filled in: times in milliseconds, sizes in bytes. schemas/server.json describes each setting. */
export type ServerSettings = Readonly<ReturnType<typeof compileServerSettings>>;

/** Fills in the defaults, which the schema documents for people and editors; a test compares the two. */
export function compileServerSettings(file: ServerFile) {
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
    chains: { ...DEFAULT_CHAINS, ...listsIn(chains) },
    /** The places of the items of a chain, where server.yaml changes the default chain in place of a list. */
    chainIndexes: NO_INDEXES,
    plugins: file.plugins ?? [],
    cache: {
      maxBytes: parseBytes(cache.max_bytes ?? '64MiB'),
      maxEntryBytes: parseBytes(cache.max_entry_bytes ?? '1MiB'),
    },
    reload: { watch: reload.watch ?? true, debounceMs: parseDuration(reload.debounce ?? '500ms') },
    egress: { tokenUris: file.egress?.token_uris ?? [] },
    telemetry: compileTelemetry(telemetry),
  };
}

/** Add-ons put their plugins into these (compose/snapshot.ts). */
export const DEFAULT_CHAINS: Readonly<Record<PluginLevel, readonly ChainItem[]>> = {
  entry: ['telemetry', 'errors', 'auth', 'models', 'body', 'config'],
  request: ['metadata', 'route'],
  attempt: ['override', 'cache', 'transform', 'retry', 'send'],
};

const NO_INDEXES: Readonly<Partial<Record<PluginLevel, readonly (number | Placed)[] | undefined>>> = {};

/** The chains that a list replaces. Changes are made once the plugins of add-ons are in the default chains. */
const listsIn = (chains: NonNullable<ServerFile['chains']>): Partial<Record<PluginLevel, readonly ChainItem[]>> =>
  Object.fromEntries(Object.entries(chains).filter(([, list]) => Array.isArray(list)));

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
  content: false,
  publicUrl: undefined,
  tls: undefined,
});
export const adminSettings: CompileAdmin = (file) => ofAdmin(file);

/** Called while the add-on that has the listener is registered. */
export const setAdminSettings = (compile: CompileAdmin): void => void (ofAdmin = compile);

const quarter = (whole: number): number => Math.max(1, Math.floor(whole / 4));

function compileLimits(limits: Limits) {
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

function compileTelemetry({ log = {}, metrics = {}, records }: NonNullable<ServerFile['telemetry']>) {
  return {
    // Undefined: records are in no files.
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
