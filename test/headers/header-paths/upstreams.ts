import type { CatalogEntry as EntryFile } from '../../../schemas/types.generated.ts';
import { entryOf } from '../../../src/core/catalog/catalog-target.ts';
import { compileCatalog, type CatalogEntry } from '../../../src/core/catalog/catalog.ts';
import { ModelLabels } from '../../../src/core/catalog/model-labels.ts';
import { CatalogResolver } from '../../../src/core/catalog/target-resolver.ts';
import { operations } from '../../../src/core/operations/index.ts';
import { unlessRefused } from '../../../src/core/kernel/errors.ts';
import type { Caller, GatewayConfig, Operation, ResolvedTarget, Target } from '../../../src/core/kernel/index.ts';
import type { Clock } from '../../../src/plugin/index.ts';
import { compileGatewayConfig } from '../../../src/core/settings/compile/gateway-config.ts';
import { providerNames } from '../../../src/core/providers/index.ts';
import { callerOf } from '../../../src/core/settings/compile/key-ring.ts';
import type { Settings } from '../../../src/core/settings/read/load.ts';
import type { ServerSettings } from '../../../src/core/settings/compile/server-settings.ts';
import { HttpExchange } from '../../../src/core/http/gateway/exchange.ts';
import { HeaderNames } from '../../../src/core/http/gateway/header-names.ts';
import { checkMessagesRoute } from '../../../src/core/translate/translation-job.ts';
import { NO_UPSTREAM, NO_TOKENS } from '../../../src/core/dry-run/fakes.ts';
import { inboundContext } from '../../../src/addons/explain/explain/inbound.ts';
import { targetsOf } from '../../../src/core/memory/ports.ts';

/** A destination of requests. */
export interface ReachedUpstream {
  /** `@slug`; a provider's name, or `custom host`, for destinations that requests name themselves. */
  readonly name: string;
  readonly models: readonly string[];
  /** Headers of a request that name it, without the gateway's prefix. */
  readonly headers: Readonly<Record<string, string>>;
  /** The only caller that may use it; undefined: all callers. */
  readonly caller: Caller | undefined;
}

/** One kind of request to a destination. Other models of the same kind give the same headers. */
export interface Way {
  /** Requests of one kind have the same headers. */
  readonly kind: string;
  readonly operation: Operation;
  readonly model: string;
  readonly resolved: ResolvedTarget;
  readonly entry: CatalogEntry;
}

/** A destination, with the models to resolve there. */
interface Ask {
  readonly place: ReachedUpstream;
  readonly config: GatewayConfig;
  readonly models: readonly string[];
}

export interface UpstreamInput {
  readonly settings: Settings;
  readonly server: ServerSettings;
  readonly clock: Clock;
}

/** One model of each kind, because the headers depend on the model's vendor. */
const SAMPLES = [
  'gpt-4o',
  'claude-sonnet-4-5',
  'anthropic.claude-sonnet-4-5',
  'gemini-2.5-flash',
  'meta.llama-3.3-70b-instruct-maas',
  'text-embedding-005',
  'imagen-4.0-generate-001',
];
const asking = (): readonly Operation[] => operations.filter(({ task }) => task !== undefined);

const NONE: readonly Way[] = [];
const DIRECT = compileGatewayConfig('', {});
/** A target without a provider and a model of its own. */
const ANY_TARGET = targetsOf(DIRECT.route)[0]!;

/** The destinations of the targets of some settings, found by the resolver that serves. Opens nothing. */
export class Upstreams {
  readonly places: readonly ReachedUpstream[];
  readonly #known: UpstreamInput;
  readonly #names: HeaderNames;
  readonly #resolver: CatalogResolver;
  readonly #exchanges = new Map<string, HttpExchange>();
  /** By destination and by the target's own model, which most targets share. */
  readonly #ways = new Map<string, readonly Way[]>();
  readonly #agreements = new Map<string, boolean>();

  constructor(known: UpstreamInput) {
    const { settings, server, clock } = known;
    const catalog = compileCatalog(settings.catalog, {
      upstreamExchange: NO_UPSTREAM.exchange,
      clock,
      tokens: NO_TOKENS,
      tokenFetched() {},
      // Only opening an entry reads credentials of the machine, and none is opened.
      env: {},
      tokenUris: new Set(server.egress.tokenUris),
      // The catalog that serves reports its own mistakes.
      report() {},
    });
    this.#known = known;
    this.#names = new HeaderNames(server.headerPrefixes);
    // Separate labels, so that the sample models do not become labels of the process.
    this.#resolver = new CatalogResolver(catalog, new ModelLabels());
    this.places = placesOf(settings);
  }

  /** Empty when the target does not lead to this destination. */
  ways(place: ReachedUpstream, target: Target, config: GatewayConfig): readonly Way[] {
    // The resolver would reject it too, but one error per pair costs more than all other work.
    if (target.provider?.startsWith('@') && target.provider !== place.name) return NONE;
    const model = target.overrideParams?.['model'];
    const named = typeof model === 'string' ? model : undefined;
    const of = place.name === CUSTOM_HOST && !place.caller ? config.id : place.caller?.keyId;
    const at = `${place.name} ${of}`;
    const ask: Ask = { place, config, models: named === undefined ? place.models : [named] };
    const ways = remembered(this.#ways, `${at} ${named}`, () => this.#find(ask));
    const [first] = ways;
    if (!first) return NONE;
    const agrees = remembered(this.#agreements, `${at} ${target.provider} ${named}`, () =>
      this.#leads(ask, target, first),
    );
    if (!agrees) return NONE;
    return target.messagesRoute === 'any' ? ways : ways.filter((way) => answers(way, target));
  }

  #find(ask: Ask): readonly Way[] {
    const { name } = ask.place;
    const ways = new Map<string, Way>();
    for (const operation of asking()) {
      for (const model of ask.models) {
        const resolved = this.#resolve(ask, { operation, model, target: ANY_TARGET });
        const entry = resolved && entryOf(resolved);
        if (!entry || (name !== CUSTOM_HOST && entry.name !== name)) continue;
        const kind = [operation.format.name, resolved.format, resolved.host].join(' ');
        if (!ways.has(kind)) ways.set(kind, { kind, operation, model, resolved, entry });
      }
    }
    return [...ways.values()];
  }

  /** The target's own choice of destination is the same for every model and operation. */
  #leads(ask: Ask, target: Target, { operation, model, entry }: Way): boolean {
    const resolved = this.#resolve(ask, { operation, model, target });
    // Differs when the target's provider overrides the request's.
    return resolved !== undefined && entryOf(resolved)?.name === entry.name;
  }

  #resolve(ask: Ask, { operation, model, target }: { operation: Operation; model: string; target: Target }) {
    const { place, config } = ask;
    const exchange = this.#exchange(operation, hostsOf(place, config));
    exchange.config = config;
    exchange.caller = place.caller;
    return unlessRefused(() => this.#resolver.resolve(exchange, target, inPlace(place, model), false));
  }

  #exchange(operation: Operation, headers: Readonly<Record<string, string>>): HttpExchange {
    return remembered(this.#exchanges, JSON.stringify([operation.id, headers]), () => this.#make(operation, headers));
  }

  #make(operation: Operation, headers: Readonly<Record<string, string>>): HttpExchange {
    const { settings, server, clock } = this.#known;
    const named = Object.entries(headers).map(([name, value]) => [this.#names.nameFor({}, name), value]);
    const { req } = inboundContext({
      method: operation.method,
      path: operation.path,
      headers: Object.fromEntries(named),
      body: Buffer.alloc(0),
    });
    const snapshot = { hash: settings.hash, headerNames: this.#names, server };
    return new HttpExchange(req, { operation, clientFormat: operation.format, params: {}, snapshot, clock });
  }
}

export const CUSTOM_HOST = 'custom host';

function placesOf({ catalog, keys }: Settings): readonly ReachedUpstream[] {
  const entries = catalog.providers.map((entry) => ({
    name: `@${entry.slug}`,
    models: modelsOf(entry),
    headers: {},
    caller: undefined,
  }));
  const inHeaders = { 'vertex-project-id': 'a-project', 'vertex-region': 'us-central1' };
  const ofKeys = keys.keys.filter(({ custom_hosts: hosts }) => hosts);
  return [
    ...entries,
    // Providers that a request can name without a catalog entry; the resolver rejects the others.
    ...providerNames().map((provider) => ({
      name: provider,
      models: SAMPLES,
      headers: { ...inHeaders, provider },
      caller: undefined,
    })),
    { name: CUSTOM_HOST, models: SAMPLES, headers: {}, caller: undefined },
    ...ofKeys.map((key) => ({ name: CUSTOM_HOST, models: SAMPLES, headers: {}, caller: callerOf(key) })),
  ];
}

/** One name for each pattern of its list, its endpoints, and the samples. */
function modelsOf(entry: EntryFile): readonly string[] {
  const endpoints = 'endpoints' in entry ? Object.keys(entry.endpoints ?? {}).map((name) => `endpoints.${name}`) : [];
  return [...(entry.models ?? []).map((pattern) => pattern.replaceAll('*', 'x')), ...endpoints, ...SAMPLES];
}

const inPlace = ({ name }: ReachedUpstream, model: string): string =>
  name.startsWith('@') && !model.startsWith('@') ? `${name}/${model}` : model;

/** For custom hosts: the header with a host of the list. */
function hostsOf({ name, headers, caller }: ReachedUpstream, config: GatewayConfig): ReachedUpstream['headers'] {
  if (name !== CUSTOM_HOST) return headers;
  const [host = 'none.invalid'] = (caller ?? config).customHosts?.hosts ?? [];
  // `1` is valid in a name, an address and a port.
  return { 'custom-host': `https://${host.replaceAll('*', '1')}/v1` };
}

const answers = ({ operation, resolved }: Way, target: Target): boolean =>
  unlessRefused(() => (checkMessagesRoute(operation, target, resolved), true)) ?? false;

function remembered<T>(known: Map<string, T>, key: string, find: () => T): T {
  let found = known.get(key);
  if (found === undefined) known.set(key, (found = find()));
  return found;
}
