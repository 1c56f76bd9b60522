import type { Logger } from 'pino';
import { compileCatalog, type Catalog } from '../catalog/catalog.ts';
import { createModelDirectory } from '../catalog/model-directory.ts';
import type { ModelLabels } from '../catalog/model-labels.ts';
import { createTargetResolver } from '../catalog/target-resolver.ts';
import { compileChain, type ChainItem, type CompiledChain, type CompileSetup } from '../chain/compile.ts';
import type { Chain } from '../chain/compose.ts';
import { providedBy, type OuterChain } from '../chain/provided.ts';
import type { PluginRegistry } from '../chain/registry.ts';
import { openaiChat } from '../formats/openai-chat/index.ts';
import {
  GatewayError,
  nearest,
  type Capabilities,
  type CapabilityName,
  type Clock,
  type ConfigDirectory,
  type GatewayConfig,
  type GatewayContext,
  type Host,
  type Plugin,
  type PluginLevel,
  type Recorder,
  type RequestLimits,
} from '../plugin/index.ts';
import { compileGatewayConfig } from '../settings/gateway-config.ts';
import { InlineConfigs } from '../settings/inline-configs.ts';
import { createKeyRing } from '../settings/key-ring.ts';
import type { LoadResult, Settings } from '../settings/load.ts';
import { checkOptions } from '../settings/plugin-options.ts';
import { compileServerSettings, type ServerSettings } from '../settings/server-settings.ts';
import { createHealthDirectory, type HealthStore, type SnapshotHealth } from '../state/target-health.ts';
import type { ReplyStore } from '../state/reply-cache.ts';
import type { TokenStore } from '../state/tokens.ts';
import type { Upstream } from '../upstream/types.ts';
import { createAttemptRunner } from './attempts.ts';
import { createReplyCache, type ReplyStores } from './cached-replies.ts';
import { HeaderNames } from './headers.ts';
import type { InFlight } from './in-flight.ts';
import { createMediaInliner } from './inline-media.ts';
import { createSender } from './sender.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';
import { createTranslator } from './translator.ts';

/** The settings in force, compiled: immutable. A request keeps the snapshot it began with. */
export interface Snapshot {
  readonly hash: string;
  readonly server: ServerSettings;
  readonly headerNames: HeaderNames;
  readonly entry: Chain;
  /** Access tokens its catalog may need; some entries know theirs only once they are open. */
  readonly tokenKeys: ReadonlySet<string>;
  /** Starts what the catalog needs running; awaited before the snapshot goes live. */
  open(): Promise<void>;
  /** Lets go of what its plugins opened. */
  close(): Promise<void>;
}

/** What outlives snapshots and is shared by them. */
export interface Shared {
  readonly clock: Clock;
  /** The process's, for what catalog entries leave to it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly random: () => number;
  readonly upstream: Upstream;
  readonly tokens: TokenStore;
  readonly replies: ReplyStores;
  readonly health: HealthStore;
  readonly inFlight: InFlight;
  /** An access token was fetched for a catalog entry, or could not be. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  readonly recorder: Recorder;
  readonly labels: ModelLabels;
  readonly registry: PluginRegistry;
}

/** A plugin's `create` or one of its closing tasks: enough to connect to something near, short enough to be told of soon. */
const PLUGIN_LIMIT_MS = 10_000;
/** Of all entries at once: some ask a metadata server that is still coming up, with several tries. */
const OPEN_LIMIT_MS = 45_000;

/** Compiles settings; every problem is reported in `loaded`, and with an error among them there is no snapshot. Does no I/O but plugins' own. */
export async function compileSnapshot(loaded: LoadResult, shared: Shared): Promise<Snapshot | undefined> {
  const { settings } = loaded;
  if (!settings) return undefined;
  const server = compileServerSettings(settings.server);
  const catalog = compileCatalog(settings.catalog, {
    upstreamExchange: shared.upstream.exchange,
    clock: shared.clock,
    tokens: shared.tokens,
    tokenFetched: shared.tokenFetched,
    env: shared.env,
    tokenUris: new Set(server.egress.tokenUris),
    report: loaded.reporter('catalog.yaml'),
  });
  const workshop = new Workshop(loaded, shared);
  const replies = shared.replies.prepare(server.cache);
  const compilation = { server, catalog, workshop, shared, replies, health: createHealthDirectory(shared.health) };
  try {
    const entry = await compileChains(settings, compilation);
    if (loaded.ok && entry) return createSnapshot(loaded, settings, compilation, entry.run);
  } catch (error) {
    await workshop.close();
    throw error;
  }
  await workshop.close();
  return undefined;
}

interface Compilation {
  readonly server: ServerSettings;
  readonly catalog: Catalog;
  readonly workshop: Workshop;
  readonly shared: Shared;
  readonly replies: ReplyStore;
  readonly health: SnapshotHealth;
}

function createSnapshot(
  loaded: LoadResult,
  settings: Settings,
  { server, catalog, workshop, shared, replies, health }: Compilation,
  entry: Chain,
): Snapshot {
  return {
    hash: settings.hash,
    server,
    headerNames: new HeaderNames(server.headerPrefixes),
    entry,
    // Some keys are known only once the entries are open.
    get tokenKeys() {
      return new Set(catalog.entries.flatMap(({ provider }) => provider.tokenKey ?? []));
    },
    async open() {
      workshop.setLogLevel(server.telemetry.log.level);
      await openCatalog(catalog, loaded, shared.clock);
      shared.replies.use(replies);
      health.use();
    },
    close: () => workshop.close(),
  };
}

async function openCatalog(catalog: Catalog, loaded: LoadResult, clock: Clock): Promise<void> {
  try {
    await withinTime(catalog.open(), OPEN_LIMIT_MS, clock);
  } catch (error) {
    if (error instanceof TimeLimitPassed)
      loaded.reporter('catalog.yaml')({ path: ['providers'], message: `cannot open these entries: ${error.message}` });
    throw error;
  }
}

/** All chains; the entry chain leads to the others. */
async function compileChains(
  settings: Settings,
  { server, catalog, workshop, shared, replies, health }: Compilation,
): Promise<CompiledChain | undefined> {
  const { clock } = shared;
  const targets = createTargetResolver(catalog, { labels: shared.labels });

  const base = {
    translate: createTranslator(clock),
    targets,
    defaultFormat: openaiChat,
    limits: requestLimits(server, shared.inFlight),
    recorder: shared.recorder,
  };
  const media = createMediaInliner({ download: shared.upstream.download, clock, log: shared.log });
  const send = createSender({ upstream: shared.upstream, clock, limits: server.limits });
  const attemptChain = await workshop.chain(
    { ...serverChain(server, 'attempt'), provided: providedToAttempts(settings, server, shared.registry) },
    { ...base, send, media, cache: createReplyCache(replies, clock) },
  );
  const attempts = createAttemptRunner({
    chain: attemptChain?.run ?? nothing,
    clock,
    timeouts: server.timeouts,
  });
  const configs = await compileConfigs(settings, server, workshop, { ...base, attempts, health });
  health.prepare(configs.ids.flatMap((id) => configs.get(id) ?? []));
  // A key ring is built of sound entries only; of settings with mistakes the chains are compiled for what there is to report.
  const keys = createKeyRing(workshop.sound ? settings.keys : { keys: [] }, clock);
  const models = createModelDirectory(catalog, configs, targets);
  return workshop.chain(serverChain(server, 'entry'), { ...base, keys, configs, models });
}

const requestLimits = ({ limits }: ServerSettings, inFlight: InFlight): RequestLimits => ({
  body: limits.body,
  jsonDepth: limits.jsonDepth,
  reserve: (exchange, bytes) => inFlight.reserve(exchange, bytes),
});

const nothing: Chain = () => Promise.resolve();

/** A list of plugins where it stands in the settings. */
interface ChainPlace {
  readonly level: PluginLevel;
  readonly file: string;
  readonly path: readonly string[];
  readonly items: readonly ChainItem[];
  /** Names that the chains around it provide. */
  readonly provided?: readonly string[];
}

const outerEntry = (server: ServerSettings): OuterChain => ({ items: server.chains.entry, runner: 'configs' });

/** Attempts run in every request chain: only what all of these provide is sure to be there. */
function providedToAttempts(settings: Settings, server: ServerSettings, registry: PluginRegistry): string[] {
  const requestChains = [
    server.chains.request,
    ...[...settings.gateway.values()].flatMap(({ plugins }) => (plugins ? [plugins] : [])),
  ];
  const [first = [], ...others] = requestChains.map((items) =>
    providedBy([outerEntry(server), { items, runner: 'attempts' }], 'attempt', registry),
  );
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** A chain of server.yaml. */
const serverChain = (server: ServerSettings, level: PluginLevel): ChainPlace => ({
  level,
  file: 'server.yaml',
  path: ['chains', level],
  items: server.chains[level],
});

/** Builds chains for one snapshot and remembers what their plugins want closed. */
class Workshop {
  readonly #loaded: LoadResult;
  readonly #shared: Shared;
  readonly #closers: (() => void | Promise<void>)[] = [];
  readonly #logs: Logger[] = [];
  #stalled = false;
  #closed = false;

  constructor(loaded: LoadResult, shared: Shared) {
    this.#loaded = loaded;
    this.#shared = shared;
  }

  async chain(
    { level, file, path, items, provided = [] }: ChainPlace,
    granted: Partial<Capabilities>,
  ): Promise<CompiledChain | undefined> {
    // The settings are refused already: a plugin that hangs in every gateway config is waited for once.
    if (this.#stalled) return undefined;
    const setup: CompileSetup = {
      registry: this.#shared.registry,
      host: (plugin, instance) => this.#host(plugin, instance, granted),
      inTime: (work) => this.#inTime(work),
      checkOptions,
      nearest,
    };
    return compileChain({ level, items, path, provided, report: this.#loaded.reporter(file) }, setup);
  }

  get sound(): boolean {
    return this.#loaded.ok;
  }

  get log(): Logger {
    return this.#shared.log;
  }

  providedToRequests(server: ServerSettings): readonly string[] {
    return providedBy([outerEntry(server)], 'request', this.#shared.registry);
  }

  #host(plugin: Plugin, instance: string, granted: Partial<Capabilities>): Host<CapabilityName> {
    const { clock, random, log } = this.#shared;
    const capabilities = Object.fromEntries(
      plugin.needs.map((need) => {
        const capability = granted[need];
        if (capability === undefined) throw new Error(`"${need}" is not to be had in the ${plugin.level} chain`);
        return [need, capability];
      }),
    );
    const ownLog = log.child({ plugin: instance });
    this.#logs.push(ownLog);
    const host = {
      clock,
      random,
      log: ownLog,
      onClose: (task: () => void | Promise<void>) => {
        // A plugin that went on after its time was up.
        if (this.#closed) void this.#runCloser(task);
        else this.#closers.push(task);
      },
    };
    // The plugin's own type says which capabilities it reads: those it named.
    return { ...capabilities, ...host } as unknown as Host<CapabilityName>;
  }

  /** Child loggers keep the level their parent had when they were made. */
  setLogLevel(level: ServerSettings['telemetry']['log']['level']): void {
    for (const log of this.#logs) log.level = level;
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    try {
      return await withinTime(work, PLUGIN_LIMIT_MS, this.#shared.clock);
    } catch (error) {
      if (error instanceof TimeLimitPassed) this.#stalled = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const task of this.#closers.splice(0).toReversed()) await this.#runCloser(task);
  }

  async #runCloser(task: () => void | Promise<void>): Promise<void> {
    try {
      await withinTime(Promise.resolve(task()), PLUGIN_LIMIT_MS, this.#shared.clock);
    } catch (err) {
      this.#shared.log.error({ err }, 'a plugin failed to close');
    }
  }
}

/** What is asked of the gateway itself is answered before a config is chosen; an entry chain may have been written without who does. */
function refuseUnanswered({ exchange: { operation } }: GatewayContext): void {
  if (!operation || operation.task !== undefined) return;
  throw new GatewayError(
    'not_found',
    `This gateway does not answer ${operation.method} ${operation.path}: \`chains.entry\` of server.yaml has no plugin for it.`,
  );
}

async function compileConfigs(
  settings: Settings,
  server: ServerSettings,
  workshop: Workshop,
  granted: Partial<Capabilities>,
): Promise<ConfigDirectory> {
  const provided = workshop.providedToRequests(server);
  const standard = await workshop.chain({ ...serverChain(server, 'request'), provided }, granted);
  const configs = new Map<string, GatewayConfig>();
  const chains = new Map<GatewayConfig, Chain>();
  for (const [id, file] of settings.gateway) {
    const config = compileGatewayConfig(id, file);
    configs.set(id, config);
    const own =
      file.plugins &&
      (await workshop.chain(
        { level: 'request', file: `gateway/${id}.yaml`, path: ['plugins'], items: file.plugins, provided },
        granted,
      ));
    chains.set(config, (own ?? standard)?.run ?? nothing);
  }
  const inline = new InlineConfigs({
    limit: server.limits.inlineConfig,
    server: settings.server,
    onWarnings: (warnings) => workshop.log.warn({ diagnostics: warnings }, 'an inline config says something doubtful'),
  });
  const run = async (config: GatewayConfig, ctx: GatewayContext): Promise<void> => {
    refuseUnanswered(ctx);
    await (chains.get(config) ?? standard?.run ?? nothing)(ctx);
  };
  return {
    get: (id) => configs.get(id),
    inline: (json, header) => inline.get(json, header),
    ids: [...configs.keys()],
    fallbackId: server.defaultConfig,
    direct: compileGatewayConfig('', {}),
    run,
  };
}
