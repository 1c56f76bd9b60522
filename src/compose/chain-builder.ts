import type { Logger } from 'pino';
import {
  compileChain,
  providedBy,
  type ChainItem,
  type CompiledChain,
  type CompileSetup,
  type PluginPlace,
  type OuterChain,
} from '../chain/compile.ts';
import type { Chain, Guard } from '../chain/instance.ts';
import { runForPlugin } from '../chain/plugin-work.ts';
import type { PluginRegistry } from '../chain/registry.ts';
import {
  nearest,
  type Capabilities,
  type CapabilityName,
  type Clock,
  type Host,
  type Middleware,
  type Plugin,
  type PluginLevel,
} from '../plugin/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { readOptions } from '../settings/compile/plugin-options.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { ReportPluginFailure } from '../gateway/plugin-faults.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';

/**
 * Limit for a plugin's `create` and its closing tasks: long enough to connect to a nearby service, short enough to
 * report soon.
 */
const PLUGIN_LIMIT_MS = 10_000;

/** A list of plugins and its place in the settings. */
interface ChainPlace {
  readonly level: PluginLevel;
  readonly file: string;
  readonly path: readonly string[];
  readonly items: readonly ChainItem[];
  /** Names that the outer chains provide. */
  readonly provided?: readonly string[];
}

/** Stands in for a chain that did not compile. */
export const noChain: Chain = () => Promise.resolve();

export const outerEntry = (server: ServerSettings): OuterChain => ({ items: server.chains.entry, runner: 'configs' });

/** A chain of server.yaml. */
export const serverChain = (server: ServerSettings, level: PluginLevel): ChainPlace => ({
  level,
  file: 'server.yaml',
  path: ['chains', level],
  items: server.chains[level],
});

/** A plugin and its place in the settings. */
export interface ListedPlugin extends PluginPlace {
  readonly file: string;
}

/**
 * Hooks for observed chains (explain, config tests, Server-Timing). Without them nothing is added to the path of a
 * request.
 */
export interface Watch {
  /** Creates a plugin's middleware, wrapped or replaced. */
  readonly instantiate?: (
    place: ListedPlugin,
    create: () => Middleware | Promise<Middleware>,
  ) => Middleware | Promise<Middleware>;
  /** Replaces the capabilities that plugins are granted. */
  readonly grant?: (granted: Partial<Capabilities>) => Partial<Capabilities>;
}

/** The parts of the process that chains are built with. */
interface ChainBuilderTools {
  readonly watch?: Watch | undefined;
  readonly clock: Clock;
  /** @param plugin the plugin that draws a number */
  readonly random: (plugin: string) => number;
  readonly log: Logger;
  readonly registry: PluginRegistry;
  /** `limits.plugin_time`. */
  readonly pluginMs: number;
  readonly pluginFault: ReportPluginFailure;
}

/**
 * If a plugin does not await its `sleep`, a client disconnect would reject it unhandled and without a plugin's name.
 */
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

/** A task that a plugin registered for the closing of its snapshot. */
interface Closer {
  readonly plugin: string;
  readonly task: () => void | Promise<void>;
}

/** Builds chains for one snapshot and collects the closing tasks of their plugins. */
export class ChainBuilder {
  readonly #loaded: LoadResult;
  readonly #tools: ChainBuilderTools;
  readonly #closers: Closer[] = [];
  readonly #logs: Logger[] = [];
  #stalled = false;
  #closed = false;

  constructor(loaded: LoadResult, tools: ChainBuilderTools) {
    this.#loaded = loaded;
    this.#tools = tools;
  }

  async chain(
    { level, file, path, items, provided = [] }: ChainPlace,
    granted: Partial<Capabilities>,
  ): Promise<CompiledChain | undefined> {
    // The settings are already invalid: a plugin that hangs in every gateway config is awaited only once.
    if (this.#stalled) return undefined;
    const { watch } = this.#tools;
    const instantiate = watch?.instantiate;
    const setup: CompileSetup = {
      registry: this.#tools.registry,
      host: (plugin, instance) => this.#host(plugin, instance, watch?.grant?.(granted) ?? granted),
      instantiate: instantiate && ((place, create) => instantiate({ ...place, file }, create)),
      inTime: (work) => this.#inTime(work),
      guard: this.#guard,
      readOptions,
      nearest,
    };
    return compileChain({ level, items, path, provided, report: this.#loaded.reporter(file) }, setup);
  }

  get #guard(): Guard {
    const { clock, pluginMs, pluginFault } = this.#tools;
    return { clock, pluginMs, onFault: pluginFault };
  }

  get isValid(): boolean {
    return this.#loaded.ok;
  }

  get log(): Logger {
    return this.#tools.log;
  }

  providedToRequests(server: ServerSettings): readonly string[] {
    return providedBy([outerEntry(server)], 'request', this.#tools.registry);
  }

  #host(plugin: Plugin, instance: string, granted: Partial<Capabilities>): Host<CapabilityName> {
    const { clock, random, log } = this.#tools;
    const capabilities = Object.fromEntries(
      plugin.needs.map((need) => {
        const capability = granted[need];
        if (capability === undefined) throw new Error(`"${need}" is not available in the ${plugin.level} chain`);
        return [need, capability];
      }),
    );
    const ownLog = log.child({ plugin: instance });
    this.#logs.push(ownLog);
    const isBuiltin = this.#tools.registry.get(plugin.name)?.builtin ?? false;
    const host = {
      clock: isBuiltin ? clock : forgivingClock(clock),
      random: () => random(plugin.name),
      log: ownLog,
      onClose: (task: () => void | Promise<void>) => {
        // A plugin that continues after its time limit registers too late.
        const closer = { plugin: instance, task };
        if (this.#closed) void this.#runCloser(closer, PLUGIN_LIMIT_MS);
        else this.#closers.push(closer);
      },
    };
    // The plugin's type restricts it to the capabilities it named in `needs`.
    return { ...capabilities, ...host } as unknown as Host<CapabilityName>;
  }

  /** Child loggers keep the level that their parent had at their creation. */
  setLogLevel(level: ServerSettings['telemetry']['log']['level']): void {
    for (const log of this.#logs) log.level = level;
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    try {
      return await withinTime(work, PLUGIN_LIMIT_MS, this.#tools.clock);
    } catch (error) {
      if (error instanceof TimeLimitPassed) this.#stalled = true;
      throw error;
    }
  }

  /** All closing tasks share one time limit, because a reload and a stop wait for them. */
  async close(): Promise<void> {
    this.#closed = true;
    const { clock } = this.#tools;
    const end = clock.now() + PLUGIN_LIMIT_MS;
    for (const closer of this.#closers.splice(0).toReversed())
      await this.#runCloser(closer, Math.max(0, end - clock.now()));
  }

  async #runCloser({ plugin, task }: Closer, limitMs: number): Promise<void> {
    try {
      await withinTime(
        runForPlugin(plugin, async () => task()),
        limitMs,
        this.#tools.clock,
      );
    } catch (err) {
      this.#tools.log.error({ err, plugin }, 'a plugin failed to close');
    }
  }
}
