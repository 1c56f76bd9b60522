import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Capabilities, CapabilityName } from './capabilities.ts';
import type { Clock } from './clock.ts';
import type { AttemptContext, GatewayContext } from './exchange.ts';

export type PluginLevel = 'entry' | 'request' | 'attempt';

type ContextOf<L extends PluginLevel> = L extends 'attempt' ? AttemptContext : GatewayContext;

/** Koa middleware with the exchange on its context. */
export type Middleware<C = GatewayContext> = (ctx: C, next: () => Promise<void>) => Promise<void>;

/** What every plugin gets, and the capabilities it named in `needs`. */
export type Host<N extends CapabilityName = never> = Pick<Capabilities, N> & {
  readonly clock: Clock;
  /** 0 ≤ x < 1; injected so that jitter can be tested. */
  readonly random: () => number;
  /** A child logger that carries the plugin's instance name. */
  readonly log: Logger;
  /** Runs when the snapshot this plugin belongs to is let go: stop timers, close what was opened. */
  onClose(task: () => void | Promise<void>): void;
};

/** What a plugin does for one request, for `gatehouse explain`. */
export interface PluginWords {
  /** A few words: `max_tokens replaced, temperature left out`. Never a secret. */
  readonly does: string;
  /** The same for machines, and what does not fit into a line. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface PluginDefinition<L extends PluginLevel, S extends TSchema, N extends CapabilityName> {
  readonly name: string;
  /** The chain it belongs in. */
  readonly level: L;
  /** JSON Schema of the options; unknown keys are refused. The type of `options` comes from it. */
  readonly options: S;
  readonly needs?: readonly N[];
  /** Names provided by plugins that must come earlier in the chain. */
  readonly requires?: readonly string[];
  readonly provides?: readonly string[];
  /** May call `next` more than once (retry, fallback). */
  readonly repeats?: boolean;
  /**
   * Its middleware reads and changes nothing but the exchange and its context: no counter, no file, no call. Then `gatehouse explain`
   * runs it as a request would. Default: false; explain leaves the plugin out, and says so.
   */
  readonly pure?: boolean;
  /** What it has done for this request, asked by explain behind the middleware. Reads only. Undefined: nothing. */
  explain?(ctx: ContextOf<L>, options: Static<S>): PluginWords | undefined;
  create(setup: { options: Static<S>; host: Host<N> }): Middleware<ContextOf<L>> | Promise<Middleware<ContextOf<L>>>;
}

/** A plugin as the registry holds it, its types worn off. */
export interface Plugin {
  readonly name: string;
  readonly level: PluginLevel;
  readonly options: object;
  readonly needs: readonly CapabilityName[];
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly repeats: boolean;
  readonly pure: boolean;
  explain?(ctx: GatewayContext, options: unknown): PluginWords | undefined;
  create(setup: { options: unknown; host: Host<CapabilityName> }): Middleware | Promise<Middleware>;
}

/**
 * Declares a plugin: a Koa middleware made from options that its schema has checked. It is made once per place in a chain,
 * when the settings are loaded, never per request.
 *
 * @example
 * export default definePlugin({
 *   name: 'tenant-header',
 *   level: 'request',
 *   options: { type: 'object', additionalProperties: false, properties: { header: { type: 'string' } }, required: ['header'] },
 *   create: ({ options }) => async (ctx, next) => { await next(); ctx.set(options.header, ctx.exchange.caller?.keyId ?? ''); },
 * });
 */
export function definePlugin<L extends PluginLevel, const S extends TSchema, const N extends CapabilityName = never>(
  definition: PluginDefinition<L, S, N>,
): Plugin {
  return {
    name: definition.name,
    level: definition.level,
    options: definition.options,
    needs: definition.needs ?? [],
    requires: definition.requires ?? [],
    provides: definition.provides ?? [],
    repeats: definition.repeats ?? false,
    pure: definition.pure ?? false,
    // The compiler has validated the options and granted what `needs` names before it calls these.
    ...(definition.explain && { explain: definition.explain }),
    create: definition.create as Plugin['create'],
  };
}
