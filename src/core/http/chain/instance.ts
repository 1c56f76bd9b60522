import { GatewayError, type Clock } from '../../../plugin/index.ts';
import type { GatewayContext, Middleware, Attempt, Exchange } from '../../kernel/index.ts';
import type { Step } from '../../kernel/define.ts';
import { blame } from '../../kernel/outside/blame.ts';

/** One plugin at its place in a chain. */
export interface Instance {
  readonly name: string;
  readonly repeats: boolean;
  /** Built-in plugins keep the chain rules and are not watched, which saves 0.7 KB per request. */
  readonly builtin?: boolean;
  readonly middleware: Middleware;
  /** The same as a step; only of built-in plugins. */
  readonly step?: Step | undefined;
  readonly isIdleFor?: ((subject: object) => boolean) | undefined;
  readonly guard?: Guard | undefined;
  /** A fault of the plugin leaves the request as if the plugin had done nothing. */
  readonly skips?: boolean;
}

export interface Guard {
  readonly clock: Clock;
  /** Time limit until the plugin calls `next`. */
  readonly pluginMs: number;
  readonly onFault: (failure: PluginFailure) => void;
  /** Default: the plugin is not measured. */
  readonly reports?: PluginReports | undefined;
}

export interface PluginReports {
  /** @param ms own time of one run */
  readonly took: (plugin: string, ms: number) => void;
  /** An error of the plugin's own. */
  readonly threw: (plugin: string, error: unknown) => void;
}

/** timeout: it was given up. error, stream, listener: where it threw. rejection: a promise it left unhandled. blocked: it held the event loop. */
export type PluginFailureKind = 'timeout' | 'error' | 'stream' | 'listener' | 'rejection' | 'blocked';

/** A fault of an external plugin, for the log and the metrics. */
export interface PluginFailure {
  readonly kind: PluginFailureKind;
  /** The plugin's name in the settings. */
  readonly plugin: string;
  readonly requestId?: string | undefined;
  /** Undefined for `blocked`. */
  readonly error: unknown;
  /** Milliseconds of its own without a pause, for `blocked`. */
  readonly ms?: number;
}

/** The argument of a chain's plugins: Koa's context, or a `Scope`. */
export type ChainContext = Pick<GatewayContext, 'exchange' | 'attempt'>;

export type Chain = (ctx: ChainContext) => Promise<void>;

/** The argument of a chain's plugins. Built-in ones need only its fields: Koa's context is costly (measured). */
export abstract class Scope implements ChainContext {
  abstract readonly exchange: Exchange;
  abstract readonly attempt: Attempt | undefined;
  abstract koa(): GatewayContext;
}

export const koaContextOf = (ctx: ChainContext): GatewayContext =>
  // Dry runs have contexts of their own.
  ctx instanceof Scope ? ctx.koa() : (ctx as GatewayContext);

/** A plugin breaks the rules of a chain. This is a fault of its author, reported with the plugin's name. */
export class ChainFault extends Error {
  override readonly name = 'ChainFault';
}

/** Turns a synchronous throw into a rejection: the caller of `next()` expects a promise. */
export function started<C>(chain: (ctx: C) => Promise<void>, ctx: C): Promise<void> {
  try {
    return chain(ctx);
  } catch (error) {
    return Promise.reject(error);
  }
}

type Holder = Exchange | Attempt;

interface Stop {
  readonly plugin: string;
  /** Counts and logs the fault. */
  readonly report: (error: Error) => void;
}

const stops = new WeakMap<Holder, Stop>();

/** An external plugin returned without a reply and without calling `next()`; one around it may still reply. */
export const noteStop = (holder: Holder, stop: Stop): void => void stops.set(holder, stop);

export function noReply(holder: Holder): Error {
  const stop = stops.get(holder);
  if (!stop)
    return new GatewayError(
      'internal_error',
      'target' in holder
        ? 'The attempt chain ended without a reply; is `send` in it?'
        : 'The chain ended without a reply; is `route` in the request chain?',
    );
  const { plugin, report } = stop;
  const error = blame(new ChainFault(`plugin "${plugin}" returned without a reply and without calling next()`), plugin);
  report(error);
  return error;
}
