import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Cancellation } from '../../../plugin/cancellation.ts';

/** A span that a plugin makes. */
export interface PluginSpan {
  readonly name: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly isError: boolean;
  readonly attributes: readonly (readonly [name: string, value: string | number | boolean])[];
}

/** The trace of a request. */
export interface TraceContext {
  readonly traceId: string;
  /** Adds a span below that of the request. Undefined: the request is not traced. */
  readonly addSpan?: ((span: PluginSpan) => void) | undefined;
}

/**
 * The work of an external plugin, through its callbacks, timers and promises: by it an unhandled error has an owner,
 * and a plugin that was given up changes nothing.
 */
export interface PluginWork {
  /** The plugin's name in the settings. */
  readonly plugin: string;
  /** The request it works for. Undefined while the plugin is created or closed. */
  readonly exchange?:
    | { readonly id: string; readonly cancellation: Cancellation; readonly trace?: TraceContext }
    | undefined;
  /** Called when the plugin passes the request on through a capability instead of `next`. */
  readonly onHandOver?: () => void;
  givenUp: boolean;
}

const works = new AsyncLocalStorage<PluginWork | undefined>();
/** False until the first give-up: `isGivenUp` then skips the lookup in the AsyncLocalStorage. */
let anyGivenUp = false;

/** The external plugin whose code runs now. Undefined for built-in plugins. */
export const currentWork = (): PluginWork | undefined => works.getStore();

/** Costs half of `works.run`, which copies the stores once more to restore them (measured: 0.25 µs). */
export const runAs = <T, A extends unknown[]>(work: PluginWork | undefined, task: (...of: A) => T, ...of: A): T =>
  new AsyncResource('PluginWork').runInAsyncScope(enter<T, A>, undefined, work, task, of);

function enter<T, A extends unknown[]>(work: PluginWork | undefined, task: (...of: A) => T, of: A): T {
  works.enterWith(work);
  return task(...of);
}

/** Runs plugin code that belongs to no request: `create`, a closing task, its module. */
export const runForPlugin = <T>(plugin: string, task: () => T): T => runAs({ plugin, givenUp: false }, task);

export function giveUp(work: PluginWork): void {
  work.givenUp = true;
  anyGivenUp = true;
}

/** True for a plugin that this exchange has given up. A kept-alive connection keeps the work that opened it. */
export function isGivenUp(exchange: object): boolean {
  if (!anyGivenUp) return false;
  const work = works.getStore();
  return work !== undefined && work.givenUp && work.exchange === exchange;
}
