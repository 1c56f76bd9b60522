import type { Logger } from 'pino';
import {
  compileChain,
  type ChainItem,
  type CompiledChain,
  type CompileSetup,
  type PluginPlace,
} from '../chain/compile.ts';
import type { Chain, Guard } from '../chain/instance.ts';
import { runForPlugin } from '../chain/plugin-work.ts';
import { providedBy, type OuterChain } from '../chain/provided.ts';
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

/** A plugin's `create` or one of its closing tasks: enough to connect to something near, short enough to be told of soon. */
const PLUGIN_LIMIT_MS = 10_000;

/** A list of plugins where it stands in the settings. */
export interface ChainPlace {
  readonly level: PluginLevel;
  readonly file: string;
  readonly path: readonly string[];
  readonly items: readonly ChainItem[];
  /** Names that the chains around it provide. */
  readonly provided?: readonly string[];
}

/** Where there is no chain there is nothing to do. */
export const noChain: Chain = () => Promise.resolve();

export const outerEntry = (server: ServerSettings): OuterChain => ({ items: server.chains.entry, runner: 'configs' });

/** A chain of server.yaml. */
export const serverChain = (server: ServerSettings, level: PluginLevel): ChainPlace => ({
  level,
  file: 'server.yaml',
  path: ['chains', level],
  items: server.chains[level],
});

/** Where a plugin stands in the settings. */
export interface ListedPlugin extends PluginPlace {
  readonly file: string;
}

/** For chains that are watched (explain, config tests, Server-Timing); none of it is on the path of a request where nobody watches. */
export interface Watch {
  /** Makes a plugin's middleware, or another one around it, or one in its place. */
  readonly instantiate?: (
    place: ListedPlugin,
    create: () => Middleware | Promise<Middleware>,
  ) => Middleware | Promise<Middleware>;
  /** Puts others in the place of what plugins are granted. */
  readonly grant?: (granted: Partial<Capabilities>) => Partial<Capabilities>;
}

/** What of a process its chains are built with. */
export interface ChainBuilderTools {
  readonly watch?: Watch | undefined;
  readonly clock: Clock;
  /** @param plugin who asks for a number */
  readonly random: (plugin: string) => number;
  readonly log: Logger;
  readonly registry: PluginRegistry;
  /** What `limits.plugin_time` says. */
  readonly pluginMs: number;
  readonly pluginFault: ReportPluginFailure;
}

/** A wait that a plugin leaves alone rejects when its client leaves: in the name of no plugin, and unhandled. */
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

/** What a plugin wants done when its snapshot is let go. */
interface Closer {
  readonly plugin: string;
  readonly task: () => void | Promise<void>;
}

/** Builds chains for one snapshot and remembers what their plugins want closed. */
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
    // The settings are refused already: a plugin that hangs in every gateway config is waited for once.
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
        if (capability === undefined) throw new Error(`"${need}" is not to be had in the ${plugin.level} chain`);
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
        // A plugin that went on after its time was up.
        const closer = { plugin: instance, task };
        if (this.#closed) void this.#runCloser(closer, PLUGIN_LIMIT_MS);
        else this.#closers.push(closer);
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
      return await withinTime(work, PLUGIN_LIMIT_MS, this.#tools.clock);
    } catch (error) {
      if (error instanceof TimeLimitPassed) this.#stalled = true;
      throw error;
    }
  }

  /** All of them together have the time of one: a reload and a stop wait for them. */
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
