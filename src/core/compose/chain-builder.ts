import type { Logger } from 'pino';
import {
  checkChain,
  createChain,
  type ChainItem,
  type CheckedChain,
  type ListChecks,
  type CompiledChain,
  type PluginPlace,
} from '../http/chain/compile.ts';
import type { Chain, PluginReports } from '../http/chain/instance.ts';
import { inherited, pluginOf, type OuterChains } from '../http/chain/list-part.ts';
import type { PluginRegistry, RegisteredPlugin } from '../http/chain/registry.ts';
import { callerMaker, type CallerSource } from '../host/plugin-callers.ts';
import type { OpenMetric } from '../host/plugin-metrics.ts';
import type { HostState } from '../host/services.ts';
import type { Upstream } from '../upstream/types.ts';
import { nearest, type Capabilities, type CapabilityName, type Plugin } from '../kernel/index.ts';
import type { Clock, PluginLevel } from '../../plugin/index.ts';
import type { PluginHost, CreatedPlugin } from '../kernel/define.ts';
import type { Report } from '../kernel/report.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { readOptions } from '../settings/compile/plugin-options.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { ReportPluginFailure } from '../http/gateway/plugin-faults.ts';
import { PLUGIN_LIMIT_MS, PluginResources } from './plugin-resources.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';

/** A list of plugins and its place in the settings. */
export interface ChainPlace {
  readonly level: PluginLevel;
  readonly file: string;
  readonly path: readonly (string | number)[];
  readonly items: readonly ChainItem[];
  /** The indexes of `items` in the written list. Default: 0, 1, 2 … */
  readonly indexes?: CheckedChain['source']['indexes'];
  /** Names that the outer chains provide. */
  readonly provided?: readonly string[];
}

interface OuterChain {
  readonly items: readonly ChainItem[];
  /** The capability of the plugin that runs the next chain. Plugins after it provide nothing to that chain. */
  readonly runner: CapabilityName;
}

/** Stands in for a chain that did not compile. */
export const noChain: Chain = () => Promise.resolve();

export const outerEntry = (server: ServerSettings): OuterChain => ({ items: server.chains.entry, runner: 'configs' });

export const serverChain = (server: ServerSettings, level: PluginLevel): ChainPlace => ({
  level,
  file: 'server.yaml',
  path: ['chains', level],
  items: server.chains[level],
  indexes: server.chainIndexes[level],
});

/** The chains of server.yaml, as lists of configs and targets have them. */
export const serverChains = (server: ServerSettings): OuterChains => {
  const part = (level: PluginLevel) => {
    const { items, indexes = [...items.keys()], ...list } = serverChain(server, level);
    return inherited({ items, indexes }, list);
  };
  return { request: part('request'), attempt: part('attempt') };
};

export interface ListedPlugin extends PluginPlace {
  readonly file: string;
}

/** Hooks for observed chains (explain, config tests, Server-Timing). Other requests pay nothing for them. */
export interface Watch {
  /** Creates a plugin's middleware or step, wrapped or replaced. */
  readonly instantiate?: (
    place: ListedPlugin,
    create: () => CreatedPlugin | Promise<CreatedPlugin>,
  ) => CreatedPlugin | Promise<CreatedPlugin>;
  /** Replaces the capabilities that plugins are granted. */
  readonly grant?: (granted: Partial<Capabilities>) => Partial<Capabilities>;
  /** Compiles equal lists of configs and targets separately, so that every plugin has a place of its own. */
  readonly separate?: boolean;
}

interface ChainBuilderTools {
  readonly watch?: Watch | undefined;
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'exchange'>;
  readonly callers: CallerSource;
  readonly host?: HostState | undefined;
  /** @param plugin the plugin that draws a number */
  readonly random: (plugin: string) => number;
  readonly log: Logger;
  /** The plugins are made to check or explain settings, not to serve. */
  readonly dry?: boolean | undefined;
  readonly registry: PluginRegistry;
  /** `limits.plugin_time`. */
  readonly pluginMs: number;
  /** `limits.reply`. */
  readonly maxReplyBytes: number;
  readonly pluginFault: ReportPluginFailure;
  /** Measures external plugins. */
  readonly pluginReports?: PluginReports | undefined;
}

/** If a plugin does not await its `sleep`, a client disconnect would reject it without a plugin's name. */
const forgivingClock = (clock: Clock): Clock => ({
  now: () => clock.now(),
  wall: () => clock.wall(),
  after: (ms, task) => clock.after(ms, task),
  sleep(ms, cancellation) {
    const slept = clock.sleep(ms, cancellation);
    slept.catch(() => {});
    return slept;
  },
});

interface CreateOptions {
  readonly file: string;
  readonly granted: Partial<Capabilities>;
  /** Default: released with the snapshot. */
  readonly resources?: PluginResources;
  /** Called for each plugin in the order of the chain. */
  readonly onPlugin?: (place: ListedPlugin) => void;
}

interface HostOwner {
  readonly plugin: Plugin;
  readonly instance: string;
  readonly resources: PluginResources;
  readonly place: Pick<ListedPlugin, 'file' | 'path'>;
}

type AddServices = (typeof import('../host/services.ts'))['addServices'];

const isServed = ({ plugin, builtin }: RegisteredPlugin): boolean => !builtin || plugin.services === true;

/** Capabilities that built-in plugins use only for settings of an add-on: a build without it refuses those settings. */
const OF_ADD_ONS: ReadonlySet<CapabilityName> = new Set(['semantic']);

/** Builds chains for one snapshot and collects the closing tasks of their plugins. */
export class ChainBuilder {
  readonly #loaded: LoadResult;
  readonly #tools: ChainBuilderTools;
  readonly #own: PluginResources;
  /** Plugins of the chains that are compiled for single requests. */
  readonly #others = new Set<PluginResources>();
  readonly #metrics = new Map<string, HostOwner>();
  #stalled = false;

  constructor(loaded: LoadResult, tools: ChainBuilderTools) {
    this.#loaded = loaded;
    this.#tools = tools;
    this.#own = new PluginResources(tools);
  }

  /** Compiles a chain. Every mistake is reported in its file; with any the result is undefined. */
  async chain(place: ChainPlace, granted: Partial<Capabilities>): Promise<CompiledChain | undefined> {
    return this.create(this.check(place), { file: place.file, granted });
  }

  /** @param report default: reports in the file of the place */
  check({ file, ...place }: ChainPlace, report: Report = this.reporter(file)): CheckedChain {
    return checkChain({ ...place, report }, this.checks);
  }

  async create(
    chain: CheckedChain,
    { file, granted, resources = this.#own, onPlugin }: CreateOptions,
  ): Promise<CompiledChain | undefined> {
    // The settings are already invalid: a plugin that hangs in every gateway config is awaited only once.
    if (this.#stalled) return undefined;
    const { watch, clock, pluginMs, pluginFault, pluginReports: reports } = this.#tools;
    // Loaded for the first plugin that may use them.
    const services = chain.items.some((item) => item && isServed(item.entry))
      ? (await import('../host/services.ts')).addServices
      : undefined;
    return createChain(chain, {
      ...this.checks,
      host: (plugin, instance, path) => {
        const owner = { plugin, instance, resources, place: { file, path } };
        const host = this.#host(owner, watch?.grant?.(granted) ?? granted);
        return services ? this.#served(host, owner, services) : host;
      },
      instantiate: (place, create) => {
        const listed = { ...place, file };
        onPlugin?.(listed);
        return watch?.instantiate ? watch.instantiate(listed, create) : create();
      },
      // Loaded for the first plugin with hooks.
      hooked: async ({ plugin, instance }, made) =>
        (await import('../hooks/hooked.ts')).hooked(plugin, made, {
          instance,
          clock,
          maxBytes: this.#tools.maxReplyBytes,
          onFault: (error, requestId) => pluginFault({ kind: 'stream', plugin: instance, requestId, error }),
        }),
      inTime: (work) => this.#inTime(work, resources),
      guard: { clock, pluginMs, onFault: pluginFault, reports },
    });
  }

  get checks(): ListChecks {
    return { registry: this.#tools.registry, readOptions, nearest };
  }

  get log(): Logger {
    return this.#tools.log;
  }

  /** Whether equal lists share one chain. */
  get shares(): boolean {
    return this.#tools.watch?.separate !== true;
  }

  reporter(file: string): Report {
    return this.#loaded.reporter(file);
  }

  /** The names that reach a chain through the given outer chains. */
  providedTo(level: PluginLevel, ...outer: readonly OuterChain[]): readonly string[] {
    return providedBy(outer, level, this.#tools.registry);
  }

  #served(host: PluginHost<CapabilityName>, owner: HostOwner, addServices: AddServices): PluginHost<CapabilityName> {
    const { plugin, instance, resources } = owner;
    const entry = this.#tools.registry.get(plugin.name);
    if (!entry || !isServed(entry)) return host;
    const { clock, dry = false, upstream, callers, host: state } = this.#tools;
    const onClose = (task: () => void): void => resources.onClose(instance, task);
    const tools = {
      clock,
      dry,
      exchange: upstream.exchange.bind(upstream),
      callers: () => callerMaker(callers),
      state,
      openMetric: (spec: Parameters<OpenMetric>[0]) => this.#openMetric(spec, owner),
    };
    return addServices(host, { instance, errors: plugin.errors ?? {}, keeps: plugin.state, onClose }, tools);
  }

  /** Two plugins would count in one metric: `mask` with `mail_hits`, and `mask-mail` with `hits`. */
  #openMetric(spec: Parameters<OpenMetric>[0], owner: HostOwner): ReturnType<OpenMetric> {
    const { instance, place } = this.#metrics.get(spec.name) ?? owner;
    const { file, line, column } = this.#loaded.placeOf(place.file, place.path);
    if (instance !== owner.instance)
      throw new TypeError(
        `the metric ${spec.name} is also one of the plugin "${instance}" at ${file}:${line}:${column}`,
      );
    this.#metrics.set(spec.name, owner);
    return this.#tools.host?.openMetric(spec);
  }

  #host({ plugin, instance, resources }: HostOwner, granted: Partial<Capabilities>): PluginHost<CapabilityName> {
    const { clock, random, dry = false } = this.#tools;
    const capabilities = Object.fromEntries(
      plugin.needs.map((need) => {
        const capability = granted[need];
        if (capability === undefined && !OF_ADD_ONS.has(need))
          throw new Error(`"${need}" is not available in the ${plugin.level} chain`);
        return [need, capability];
      }),
    );
    const isBuiltin = this.#tools.registry.get(plugin.name)?.builtin ?? false;
    const host = {
      clock: isBuiltin ? clock : forgivingClock(clock),
      random: () => random(plugin.name),
      log: resources.logFor(instance),
      mode: dry ? ('dry' as const) : ('serve' as const),
      onClose: (task: () => void | Promise<void>) => resources.onClose(instance, task),
    };
    // The plugin's type restricts it to the capabilities it named in `needs`.
    return { ...capabilities, ...host } as unknown as PluginHost<CapabilityName>;
  }

  setLogLevel(level: ServerSettings['telemetry']['log']['level']): void {
    this.#own.setLogLevel(level);
  }

  async #inTime<T>(work: Promise<T>, resources: PluginResources): Promise<T> {
    try {
      return await withinTime(work, PLUGIN_LIMIT_MS, this.#tools.clock);
    } catch (error) {
      // A chain that is compiled for a request must not affect others.
      if (error instanceof TimeLimitPassed && resources === this.#own) this.#stalled = true;
      throw error;
    }
  }

  /** Resources of a chain that may be released before the snapshot is. */
  newResources(): PluginResources {
    const resources = new PluginResources(this.#tools);
    this.#others.add(resources);
    return resources;
  }

  async release(resources: PluginResources): Promise<void> {
    this.#others.delete(resources);
    await resources.close();
  }

  /** All closing tasks share one time limit, because a reload and a stop wait for them. */
  async close(): Promise<void> {
    const end = this.#tools.clock.now() + PLUGIN_LIMIT_MS;
    for (const resources of [...this.#others, this.#own]) await resources.close(end);
  }
}

/** The names that the outer chains provide to the plugins of a chain. */
function providedBy(outer: readonly OuterChain[], level: PluginLevel, registry: PluginRegistry): string[] {
  // Names that this level provides are excluded: the `reply` of an attempt is not that of the request.
  const all = registry.names.flatMap((name) => registry.get(name)?.plugin ?? []);
  const own = new Set(all.filter((plugin) => plugin.level === level).flatMap(({ provides }) => provides));
  const names = outer.flatMap(({ items, runner }) => {
    const plugins = items.map(pluginOf);
    const last = plugins.findIndex((name) => registry.get(name)?.plugin.needs.includes(runner));
    return plugins
      .slice(0, last < 0 ? undefined : last + 1)
      .flatMap((name) => registry.get(name)?.plugin.provides ?? []);
  });
  return [...new Set(names)].filter((name) => !own.has(name));
}
