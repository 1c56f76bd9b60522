import type { Logger } from 'pino';
import type { PricesFile } from '../../schemas/types.generated.ts';
import { createAliasDirectory } from '../catalog/alias-directory.ts';
import { compileCatalog, type Catalog } from '../catalog/catalog.ts';
import { createModelDirectory } from '../catalog/model-directory.ts';
import type { ModelNames } from '../catalog/model-labels.ts';
import { createTargetResolver } from '../catalog/target-resolver.ts';
import type { CompiledChain } from '../chain/compile.ts';
import type { Chain } from '../chain/instance.ts';
import type { PluginRegistry } from '../chain/registry.ts';
import { openaiChat } from '../formats/openai-chat/index.ts';
import {
  NO_TURNS,
  type BudgetDesk,
  type Clock,
  type MediaInliner,
  type Recorder,
  type Reply,
  type RequestLimits,
  type Sender,
  type Turns,
  toMiddleware,
  type GatewayContext,
  type Middleware,
} from '../plugin/index.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import { withStoredPrices, type StoredObjects } from '../settings/read/stored-objects.ts';
import type { MetadataLabel } from '../record/metrics/caller-labels.ts';
import { CostHeader } from '../record/cost-header.ts';
import { PriceList } from '../prices/price-list.ts';
import { PricesInForce } from '../prices/prices-in-force.ts';
import { compilePrices } from '../settings/compile/prices.ts';
import { mayStoreBudgets } from '../settings/compile/owned-kinds.ts';
import type { BudgetState } from './budgets/state.ts';
import { createNetworkTest } from '../settings/compile/networks.ts';
import { compileServerSettings, type ServerSettings } from '../settings/compile/server-settings.ts';
import type { ProviderEntry } from '../providers/provider.ts';
import type { FilesState } from '../files/files-state.ts';
import type {
  HealthStore,
  ReplyStore,
  ReplyStores,
  ResponseStore,
  SnapshotHealth,
  TokenStore,
} from '../state/ports.ts';
import type { Upstream } from '../upstream/types.ts';
import { createAttemptRunner } from '../gateway/attempts.ts';
import { embeddings } from '../operations/embeddings.ts';
import { responsesSocket } from '../operations/responses-socket.ts';
import { createReplyCache } from '../translate/cached-replies.ts';
import { createSemanticCache } from '../translate/semantic/semantic-cache.ts';
import { compileConfigs, type OnConfig } from './config-directory.ts';
import { composeFiles, type ComposedFiles } from './files.ts';
import { HeaderNames } from '../gateway/header-names.ts';
import { createPromptDirectory } from './prompt-directory.ts';
import { composeResponses } from './responses.ts';
import { composeBudgets, withBudget } from './budgets/index.ts';
import { createMediaInliner } from '../translate/inline-media.ts';
import type { PathSettings } from '../gateway/path-settings.ts';
import type { ReportPluginFailure } from '../gateway/plugin-faults.ts';
import { gatedSender } from '../send/gated-sender.ts';
import { createSender } from '../send/send.ts';
import { measuringPlugins, type PluginReports } from './plugin-metrics.ts';
import { composeRateLimits, withLimitPlugins, type ComposedRateLimits, type RateLimitsSetup } from './rate-limits.ts';
import { PluginTimes, timingSources } from './server-timing.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import { composeTenancy, type Tenancy } from './tenancy.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';
import { createTranslator } from '../translate/translator.ts';
import { noChain, outerEntry, serverChain, ChainBuilder, type Watch } from './chain-builder.ts';
import { listedParts, PluginLists } from './plugin-lists.ts';
import type { InFlight } from '../gateway/admission/in-flight.ts';
import { answerHandshake } from './websockets/handshake.ts';
import type { OpenSockets } from './websockets/open-sockets.ts';

/** The compiled settings, immutable. A request keeps the snapshot it began with. */
export interface Snapshot extends PathSettings {
  readonly server: ServerSettings;
  /** The metadata that metrics have as labels. */
  metadataLabels(): readonly MetadataLabel[];
  /** Who may use the gateway. The state store changes it while the chains stay. */
  readonly tenancy: Pick<Tenancy, 'apply' | 'catchUp' | 'current'>;
  readonly prices: PricesInForce;
  /** The access tokens that the catalog may need. Some entries know theirs only after `open`. */
  readonly tokenKeys: ReadonlySet<string>;
  /**
   * Opens the catalog's entries; awaited before the snapshot goes live.
   * @param which filters the entries. Default: all.
   */
  open(which?: (entry: ProviderEntry) => boolean): Promise<void>;
  /** Runs the closing tasks of its plugins. */
  close(): Promise<void>;
}

/** State that outlives snapshots and is shared by them. */
export interface Shared extends Omit<RateLimitsSetup, 'clock'> {
  readonly clock: Clock;
  /** The environment of the process, for catalog entries that read it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly random: (plugin: string) => number;
  readonly upstream: Upstream;
  readonly tokens: TokenStore;
  readonly replies: ReplyStores;
  readonly health: HealthStore;
  /** Responses that are kept for later requests. */
  readonly responses: ResponseStore;
  /** What budgets have counted. Undefined where nothing is sent: each snapshot then counts for itself, from zero. */
  readonly budgets?: BudgetState | undefined;
  readonly inFlight: InFlight;
  readonly sockets: OpenSockets;
  /** Undefined in a dry run: fakes take the place of stored files. */
  readonly files?: FilesState | undefined;
  /** Default: no turns; large bodies do not wait. */
  readonly turns?: Turns | undefined;
  /** Called when an access token was fetched for a catalog entry, or could not be. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  readonly recorder: Recorder;
  readonly labels: ModelNames;
  readonly registry: PluginRegistry;
  readonly pluginFault: ReportPluginFailure;
  /** Default: no plugin is measured. */
  readonly pluginReports?: PluginReports | undefined;
  readonly watch?: Watch | undefined;
  /** Creates the listener that gets the config of every request. Undefined if these settings need none. */
  readonly onConfig?: ((server: ServerSettings) => OnConfig | undefined) | undefined;
  /** The objects of the state store as they are now. Undefined: there is none. */
  readonly stored?: (() => StoredObjects | undefined) | undefined;
  /** Called when a request uses a key of the state store. */
  readonly keyUsed?: ((keyId: string, remoteAddress: string, now: number) => void) | undefined;
  /** The tenants of the settings that serve now. */
  readonly tenantsBefore?: (() => Tenants | undefined) | undefined;
  /** Called when the snapshot is closed. */
  readonly onClose?: (() => void) | undefined;
}

/** Limit for opening all entries together: some retry a metadata server that is still starting. */
const OPEN_LIMIT_MS = 45_000;

/**
 * Compiles settings. Every problem is reported in `loaded`; with an error among them the result is undefined. Does no
 * I/O of its own; plugins may.
 */
export async function compileSnapshot(loaded: LoadResult, shared: Shared): Promise<Snapshot | undefined> {
  const { settings } = loaded;
  if (!settings) return undefined;
  const governance = composeGovernance(loaded, settings, shared);
  const { server, rateLimits } = governance;
  const catalog = compileCatalog(settings.catalog, {
    upstreamExchange: shared.upstream.exchange,
    clock: shared.clock,
    tokens: shared.tokens,
    tokenFetched: shared.tokenFetched,
    env: shared.env,
    tokenUris: new Set(server.egress.tokenUris),
    report: loaded.reporter('catalog.yaml'),
  });
  const sources = timingSources(settings);
  const pluginTimes = sources.stored || sources.inline ? new PluginTimes(shared.clock, sources) : undefined;
  const measuring = measuringPlugins(shared.watch, server.telemetry.metrics.plugins, {
    clock: shared.clock,
    reports: shared.pluginReports,
  });
  const answer: Answer = (ctx) => answerHandshake(ctx, server.webSockets, shared.sockets);
  const watch = admitting(
    { inFlight: shared.inFlight, answer, refuseAddress: rateLimits.refuseAddress },
    pluginTimes ? pluginTimes.around(measuring) : measuring,
  );
  const chainBuilder = new ChainBuilder(loaded, { ...shared, watch, pluginMs: server.limits.pluginMs });
  const replies = shared.replies.prepare(server.cache);
  const { clock, upstream } = shared;
  const files = composeFiles(server, {
    catalog,
    clock,
    upstream,
    state: shared.files,
    // A file may take minutes: its uploads have a bound and a limit of time of their own.
    reserve: (exchange, bytes) => shared.inFlight.reserve(exchange, bytes, { kept: true }),
  });
  const compilation = {
    ...governance,
    catalog,
    files,
    chainBuilder,
    shared,
    replies,
    pluginTimes,
    health: shared.health.directory(),
  };
  try {
    const entry = await compileChains(settings, compilation);
    if (loaded.ok && entry) return createSnapshot(loaded, settings, compilation, entry.run);
  } catch (error) {
    await chainBuilder.close();
    throw error;
  }
  await chainBuilder.close();
  return undefined;
}

interface Compilation {
  readonly server: ServerSettings;
  readonly tenancy: Tenancy;
  readonly hasBudgets: boolean;
  readonly prices: PricesInForce;
  readonly budgets: BudgetDesk;
  readonly catalog: Catalog;
  readonly files: ComposedFiles;
  readonly chainBuilder: ChainBuilder;
  readonly shared: Shared;
  readonly replies: ReplyStore;
  readonly health: SnapshotHealth;
  readonly rateLimits: ComposedRateLimits;
  readonly pluginTimes: PluginTimes | undefined;
}

function createSnapshot(
  loaded: LoadResult,
  settings: Settings,
  {
    server,
    tenancy,
    prices,
    catalog,
    files,
    chainBuilder,
    shared,
    replies,
    health,
    rateLimits,
    pluginTimes,
  }: Compilation,
  entry: Chain,
): Snapshot {
  return {
    hash: settings.hash,
    server,
    metadataLabels: () => tenancy.metadataLabels(),
    tenancy,
    prices,
    costHeader: new CostHeader(prices),
    headerNames: new HeaderNames(server.headerPrefixes),
    isTrustedProxy: server.trustedProxies.length === 0 ? undefined : createNetworkTest(server.trustedProxies),
    entry,
    pluginTimes,
    // Some keys are known only after `open`.
    get tokenKeys() {
      return new Set(catalog.entries.flatMap(({ provider }) => provider.tokenKey ?? []));
    },
    async open(which) {
      chainBuilder.setLogLevel(server.telemetry.log.level);
      await openCatalog(catalog.open(which), loaded, shared.clock);
      shared.replies.use(replies);
      shared.files?.use(files.store);
      shared.responses.apply(server.responses);
      tenancy.catchUp(shared.stored?.());
      shared.budgets?.use(tenancy.tree);
      health.use();
      rateLimits.use();
    },
    close() {
      shared.onClose?.();
      return chainBuilder.close();
    },
  };
}

async function openCatalog(opening: Promise<void>, loaded: LoadResult, clock: Clock): Promise<void> {
  try {
    await withinTime(opening, OPEN_LIMIT_MS, clock);
  } catch (error) {
    if (error instanceof TimeLimitPassed)
      loaded.reporter('catalog.yaml')({ path: ['providers'], message: `cannot open these entries: ${error.message}` });
    throw error;
  }
}

/** Compiles all chains. Returns the entry chain, which leads to the others. */
async function compileChains(
  settings: Settings,
  {
    server,
    tenancy,
    hasBudgets,
    budgets,
    catalog,
    files,
    chainBuilder,
    shared,
    replies,
    health,
    rateLimits,
  }: Compilation,
): Promise<CompiledChain | undefined> {
  const { clock } = shared;
  const targets = createTargetResolver(catalog, { labels: shared.labels });

  const base = {
    translate: createTranslator(clock),
    targets,
    defaultFormat: openaiChat,
    limits: requestLimits(settings, server, shared.inFlight),
    gates: rateLimits.gates,
    turns: shared.turns ?? NO_TURNS,
    recorder: shared.recorder,
  };
  const media = composeMedia(files, shared);
  const send = composeSender(shared, server, rateLimits);
  const semantic = createSemanticCache(replies.texts, {
    targets,
    translate: base.translate,
    send,
    operation: embeddings,
    clock,
  });
  const grantedToAttempts = { ...base, send, media, cache: createReplyCache(replies, clock), semantic, budgets };
  const attemptChain = await chainBuilder.chain(
    { ...serverChain(server, 'attempt'), provided: providedToAttempts(settings, server, chainBuilder) },
    grantedToAttempts,
  );
  const attempts = createAttemptRunner({
    chain: attemptChain?.run ?? noChain,
    clock,
    timeouts: server.timeouts,
  });
  const granted = { ...base, attempts, health, prompts: createPromptDirectory(settings) };
  const configs = await compileConfigs(settings, server, chainBuilder, {
    granted,
    lists: new PluginLists(chainBuilder, { server, granted: { request: granted, attempt: grantedToAttempts } }),
    hasBudgets,
    onConfig: shared.onConfig?.(server),
  });
  health.prepare(configs.ids.flatMap((id) => configs.get(id) ?? []));
  const models = createModelDirectory(catalog, configs, targets);
  const aliases = createAliasDirectory(catalog.aliases);
  const responses = composeResponses(server, shared.responses);
  const grantedToEntry = { ...base, aliases, keys: tenancy.keys, configs, models, files: files.service, responses };
  return chainBuilder.chain(serverChain(server, 'entry'), grantedToEntry);
}

/** Keys, limits and budgets, and the default chains with their plugins, if there are any. */
function composeGovernance(loaded: LoadResult, settings: Settings, shared: Shared) {
  const { server: file } = settings;
  const { clock } = shared;
  const compiled = compileServerSettings(file);
  const tenancy = composeTenancy(loaded, settings, compiled, shared);
  const { tree } = tenancy;
  const listOf = (file: PricesFile): PriceList => new PriceList(compilePrices(file), settings.priceTable);
  const prices = new PricesInForce(listOf(settings.prices));
  const rateLimits = composeRateLimits(loaded, { settings, tree }, shared);
  const hasBudgets = tree.hasBudgets || mayStoreBudgets(file);
  const whenDown = compiled.state?.whenDown.budgets ?? 'refuse';
  const budgets = composeBudgets({ hasBudgets, tree, prices, clock, whenDown, state: shared.budgets });
  const server = withBudget(withLimitPlugins(compiled, file, rateLimits.needs), file, hasBudgets);
  tenancy.onChange((changes) => {
    rateLimits.change(changes);
    shared.budgets?.change(changes);
  });
  tenancy.onPrices(() => {
    prices.replace(listOf(withStoredPrices(settings.written.prices, tenancy.current.stored)), clock.now());
  });
  return { tenancy, hasBudgets, prices, rateLimits, budgets, server };
}

function composeMedia({ source }: ComposedFiles, { clock, log, upstream, inFlight }: Shared): MediaInliner {
  const stored = source && { files: source, reserve: inFlight.reserve.bind(inFlight) };
  return createMediaInliner({ download: upstream.download, clock, log, stored });
}

function composeSender(
  { upstream, clock, inFlight }: Shared,
  { limits }: ServerSettings,
  { needs, gates }: ComposedRateLimits,
): Sender {
  const sender = createSender({ upstream, clock, limits, hold: inFlight.hold.bind(inFlight) });
  return needs.targets ? gatedSender(sender, gates) : sender;
}

const requestLimits = (settings: Settings, { limits }: ServerSettings, inFlight: InFlight): RequestLimits => ({
  body: limits.body,
  form: limits.form,
  json: limits.json,
  builtInOnly: (settings.server.plugins ?? []).length === 0,
  reserve: (exchange, bytes) => inFlight.reserve(exchange, bytes),
});

/**
 * The names that every request chain provides which may run the server's attempt chain: the server's own, and those of
 * configs that do not name an attempt chain for all of their targets.
 */
function providedToAttempts(settings: Settings, server: ServerSettings, chainBuilder: ChainBuilder): string[] {
  const own = [...settings.gateway.values()].flatMap((file) => {
    const { request, attempt } = listedParts(file, chainBuilder);
    return request && !attempt ? [request.items] : [];
  });
  const [first = [], ...others] = [server.chains.request, ...own].map((items) =>
    chainBuilder.providedTo('attempt', outerEntry(server), { items, runner: 'attempts' }),
  );
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** Answers the handshake of a WebSocket, or throws its refusal. */
type Answer = (ctx: GatewayContext) => Reply;

/**
 * The second step of admission. A request takes its place before its caller is known; this checks the caller's share
 * when the plugin that identifies the caller calls `next`, and answers handshakes of WebSockets. It is not a plugin of its own, so no plugin list can leave
 * it out.
 */
const admitting = (gate: EntryGate, watch: Watch = {}): Watch => ({
  ...watch,
  instantiate(place, create) {
    if (!place.plugin.provides.includes('caller')) return watch.instantiate?.(place, create) ?? create();
    const checked = async (): Promise<Middleware> => counting(withCheck(toMiddleware(await create()), gate), gate);
    return watch.instantiate?.(place, checked) ?? checked();
  },
});

interface EntryGate extends Pick<ComposedRateLimits, 'refuseAddress'> {
  readonly inFlight: Pick<InFlight, 'admit'>;
  readonly answer: Answer;
}

/** Counts requests without a valid key by their address, if the settings have a limit for them. */
function counting(middleware: Middleware, { refuseAddress }: EntryGate): Middleware {
  if (!refuseAddress) return middleware;
  return async (ctx, next) => {
    try {
      await middleware(ctx, next);
    } catch (error) {
      const { caller, request } = ctx.exchange;
      throw caller ? error : (refuseAddress(request.remoteAddress) ?? error);
    }
  };
}

const withCheck =
  (middleware: Middleware, { inFlight, answer }: EntryGate): Middleware =>
  (ctx: GatewayContext, next) =>
    middleware(ctx, () => {
      const { exchange } = ctx;
      const refusal = inFlight.admit(exchange);
      if (refusal) return refused(refusal);
      if (exchange.operation !== responsesSocket) return next();
      try {
        exchange.reply = answer(ctx);
        return Promise.resolve();
      } catch (error) {
        return refused(error);
      }
    });

function refused(reason: unknown): Promise<void> {
  const rejected = Promise.reject<void>(reason);
  // Without a handler, a plugin that forgets to await `next` would end the process.
  rejected.catch(() => {});
  return rejected;
}
