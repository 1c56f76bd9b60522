import type { Clock, GatewayContext, Middleware } from '../plugin/index.ts';

/** One plugin at its place in a chain. */
export interface Instance {
  /** Name in logs and errors. */
  readonly name: string;
  readonly repeats: boolean;
  /** It is known to keep the rules of a chain: not watched, it costs a request 0.7 KB less. */
  readonly builtin?: boolean;
  readonly middleware: Middleware;
  /** How long a plugin from outside may take, and who hears of its faults. Without: as long as it likes. */
  readonly guard?: Guard | undefined;
}

export interface Guard {
  readonly clock: Clock;
  /** Until it calls `next`. */
  readonly pluginMs: number;
  readonly onFault: (failure: PluginFailure) => void;
}

/**
 * timeout: it was given up. error: its middleware threw. stream: its wrapper of a reply's body threw. listener: its listener of
 * `onEnd` or `onCancel` threw. rejection: it left a promise that failed, and nothing handled that.
 */
export type PluginFailureKind = 'timeout' | 'error' | 'stream' | 'listener' | 'rejection';

/** Something that went wrong in a plugin from outside, for the log and the metrics. */
export interface PluginFailure {
  readonly kind: PluginFailureKind;
  /** Its name in the settings. */
  readonly plugin: string;
  readonly requestId?: string | undefined;
  readonly error: unknown;
}

export type Chain = (ctx: GatewayContext) => Promise<void>;

/** A plugin that breaks the rules of a chain: a fault of the plugin's author, told with the plugin's name. */
export class ChainFault extends Error {
  override readonly name = 'ChainFault';
}

/** A plugin may throw before it makes a promise; the caller of `next()` is promised one. */
export function started(chain: Chain, ctx: GatewayContext): Promise<void> {
  try {
    return chain(ctx);
  } catch (error) {
    return Promise.reject(error);
  }
}
