import type { Clock, GatewayContext, Middleware } from '../plugin/index.ts';

/** One plugin at its place in a chain. */
export interface Instance {
  /** The name in logs and errors. */
  readonly name: string;
  readonly repeats: boolean;
  /** Built-in plugins keep the chain rules and are not watched, which saves 0.7 KB per request. */
  readonly builtin?: boolean;
  readonly middleware: Middleware;
  /** Time limit and fault reports of an external plugin. Undefined: no limit. */
  readonly guard?: Guard | undefined;
}

export interface Guard {
  readonly clock: Clock;
  /** Time limit until the plugin calls `next`. */
  readonly pluginMs: number;
  readonly onFault: (failure: PluginFailure) => void;
}

/**
 * timeout: the plugin was given up. error: its middleware threw. stream: its wrapper of a reply's body threw. listener:
 * its listener of `onEnd` or `onCancel` threw. rejection: it left a rejected promise unhandled.
 */
export type PluginFailureKind = 'timeout' | 'error' | 'stream' | 'listener' | 'rejection';

/** A fault of an external plugin, for the log and the metrics. */
export interface PluginFailure {
  readonly kind: PluginFailureKind;
  /** The plugin's name in the settings. */
  readonly plugin: string;
  readonly requestId?: string | undefined;
  readonly error: unknown;
}

export type Chain = (ctx: GatewayContext) => Promise<void>;

/** A plugin breaks the rules of a chain. This is a fault of its author, reported with the plugin's name. */
export class ChainFault extends Error {
  override readonly name = 'ChainFault';
}

/** Turns a synchronous throw into a rejection: the caller of `next()` expects a promise. */
export function started(chain: Chain, ctx: GatewayContext): Promise<void> {
  try {
    return chain(ctx);
  } catch (error) {
    return Promise.reject(error);
  }
}
