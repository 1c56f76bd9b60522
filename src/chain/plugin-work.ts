import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from '../plugin/index.ts';

/**
 * Work of a plugin from outside, for as long as any of its callbacks, timers and promises live. It answers two questions that nothing
 * else can: which plugin a stray error comes from, and whether a late change is that of a plugin that was given up.
 */
export interface PluginWork {
  /** Its name in the settings. */
  readonly plugin: string;
  /** The request it works for; undefined while the plugin is made or closed. */
  readonly exchange?: Exchange | undefined;
  /** Called when the plugin passes the request on by a capability instead of `next`. */
  readonly onHandOver?: () => void;
  givenUp: boolean;
}

const works = new AsyncLocalStorage<PluginWork | undefined>();
/** False until the first give-up: `isGivenUp` then skips the lookup in the AsyncLocalStorage. */
let anyGivenUp = false;

/** The plugin from outside whose code runs now. Built-in plugins run without. */
export const currentWork = (): PluginWork | undefined => works.getStore();

export const runAs = <T>(work: PluginWork | undefined, task: () => T): T => works.run(work, task);

/** Code of a plugin that runs for no single request: `create`, a closing task, its module. */
export const runForPlugin = <T>(plugin: string, task: () => T): T => runAs({ plugin, givenUp: false }, task);

export function giveUp(work: PluginWork): void {
  work.givenUp = true;
  anyGivenUp = true;
}

/**
 * True for code of a plugin that this exchange has given up: what it does has no effect any more. The exchange is compared because a
 * kept-alive connection keeps the work it was opened in.
 */
export function isGivenUp(exchange: Exchange): boolean {
  if (!anyGivenUp) return false;
  const work = works.getStore();
  return work !== undefined && work.givenUp && work.exchange === exchange;
}
