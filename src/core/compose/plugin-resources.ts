import type { Logger } from 'pino';
import { runForPlugin } from '../kernel/outside/plugin-work.ts';
import type { Clock } from '../../plugin/index.ts';
import { withinTime } from './time-limit.ts';

/** For a plugin's `create` and its closing tasks: long enough to connect to a service, short enough to report. */
export const PLUGIN_LIMIT_MS = 10_000;

interface Closer {
  readonly plugin: string;
  readonly task: () => void | Promise<void>;
}

interface ResourceTools {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Resources that the plugins of some chains hold: closing tasks and loggers. */
export class PluginResources {
  readonly #tools: ResourceTools;
  readonly #closers: Closer[] = [];
  readonly #logs: Logger[] = [];
  #closed = false;

  constructor(tools: ResourceTools) {
    this.#tools = tools;
  }

  logFor(plugin: string): Logger {
    const log = this.#tools.log.child({ plugin });
    this.#logs.push(log);
    return log;
  }

  /** Child loggers keep the level that their parent had at their creation. */
  setLogLevel(level: string): void {
    for (const log of this.#logs) log.level = level;
  }

  onClose(plugin: string, task: () => void | Promise<void>): void {
    // A plugin that continues after its time limit registers too late.
    const closer = { plugin, task };
    if (this.#closed) void this.#run(closer, PLUGIN_LIMIT_MS);
    else this.#closers.push(closer);
  }

  /** All closing tasks share one time limit, because a reload and a stop wait for them. */
  async close(end = this.#tools.clock.now() + PLUGIN_LIMIT_MS): Promise<void> {
    this.#closed = true;
    for (const closer of this.#closers.splice(0).toReversed())
      await this.#run(closer, Math.max(0, end - this.#tools.clock.now()));
  }

  async #run({ plugin, task }: Closer, limitMs: number): Promise<void> {
    try {
      const closing = runForPlugin(plugin, task);
      // A task that has ended needs no timer, which would keep the process alive.
      if (closing) await withinTime(closing, limitMs, this.#tools.clock);
    } catch (err) {
      this.#tools.log.error({ err, plugin }, 'a plugin failed to close');
    }
  }
}
