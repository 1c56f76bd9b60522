import type { Logger } from 'pino';
import type { Capabilities } from './capabilities.ts';
import type { Clock } from './clock.ts';
import type { GatewayConfig, Target } from './config.ts';
import type { AttemptContext, GatewayContext } from './exchange.ts';
import type { PluginHooks, PluginReads } from './hooks.ts';
import type { OptionsOf } from './options-type.ts';
import type { Operation } from './request.ts';
import type { HostServices, OwnError } from './services.ts';

/** The chains, from the outermost in. */
export type PluginLevel = 'entry' | 'request' | 'attempt';

/**
 * The types that a definition is written against: the context of each chain, and the subject for which its plan is
 * compiled. The kernel has wider ones for built-in plugins.
 */
export interface PluginTypes {
  readonly capabilities: Capabilities;
  readonly services: object;
  readonly entry: { readonly context: GatewayContext; readonly subject: Operation | undefined };
  readonly request: { readonly context: GatewayContext; readonly subject: GatewayConfig };
  readonly attempt: { readonly context: AttemptContext; readonly subject: Target };
}

/** Koa middleware with the exchange on its context. */
export type Middleware<C = GatewayContext> = (ctx: C, next: () => Promise<void>) => Promise<void>;

/**
 * A plugin that works only before the rest of its chain. `step` returns a promise if the chain has to wait for it. A chain
 * runs the steps of built-in plugins one after another, so that they cost neither a promise nor a `next`.
 */
export interface Step<C = GatewayContext> {
  step(ctx: C): Promise<void> | undefined;
}

interface AuthorTypes extends PluginTypes {
  readonly services: HostServices;
}

/** The host of a plugin: the clock, random numbers, a logger, the services, and the capabilities that the plugin names in `needs`. */
export type Host<N extends keyof Capabilities = never> = HostTools<N> & HostServices;

/** The host without its services, which most built-in plugins do without. */
export type HostTools<N extends keyof C = never, C extends object = Capabilities> = Pick<C, N> & {
  readonly clock: Clock;
  /** A random number, 0 ≤ x < 1; injected so that tests control jitter. */
  readonly random: () => number;
  /** A child logger that carries the plugin's instance name, and the id of the request that it works for. */
  readonly log: Logger;
  /**
   * dry: `gatehouse validate`, `test` and `explain`, which make plugins as serving does. A plugin then opens nothing outside of the
   * process: no connection, no file, no timer.
   */
  readonly mode: 'serve' | 'dry';
  /** Registers a task for the release of the snapshot that holds this plugin: stop timers, close resources. */
  onClose(task: () => void | Promise<void>): void;
};

/** A plugin's description of its work on one request, for `gatehouse explain`. */
export interface PluginWords {
  /** A short phrase: `max_tokens replaced, temperature left out`. Must not contain a secret. */
  readonly does: string;
  /** The same as structured data, including details that do not fit into a line. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface PluginDefinition<
  L extends PluginLevel,
  S extends object,
  N extends keyof W['capabilities'],
  W extends PluginTypes = AuthorTypes,
> {
  readonly name: string;
  /** The chain that the plugin belongs to. */
  readonly level: L;
  /** JSON Schema of the options, which must refuse unknown keys. TypeScript infers the type of `options` from it. Default: none. */
  readonly options?: S;
  readonly needs?: readonly N[];
  /** Names provided by plugins that must come earlier in the chain. */
  readonly requires?: readonly string[];
  readonly provides?: readonly string[];
  /** Whether the plugin may call `next` more than once (retry, fallback). Default: false. */
  readonly repeats?: boolean;
  /**
   * True if the plugin would do nothing for every request of this operation (entry chain), gateway config (request chain)
   * or target (attempt chain). The chain's plan for it then leaves the plugin out. It is called once for each subject, and must
   * depend on nothing else. A plugin whose test throws stays in the plan.
   */
  idleFor?(subject: W[L]['subject'], options: OptionsOf<S>): boolean;
  /**
   * Whether the middleware reads and changes nothing but the exchange and its context: no counter, no file, no network
   * call. `gatehouse explain` runs such a plugin as a request would. Default: false; explain skips the plugin and
   * reports it as skipped.
   */
  readonly pure?: boolean;
  /** Errors of its own, by code, for `host.error`: `{ tenant_blocked: { status: 403, type: 'permission_error' } }`. */
  readonly errors?: Readonly<Record<string, OwnError>>;
  /** Whether it keeps values with `host.state`. Explain says where they are. Default: false. */
  readonly state?: boolean;
  /** The version of the plugin API that it is written for. The gateway refuses one that it does not have. Default: 1. */
  readonly minApi?: number;
  /** Texts and events that the hooks of the plugin read. With it, `create` returns hooks. Levels `request` and `attempt` only. */
  readonly reads?: PluginReads;
  /**
   * Describes the plugin's work on this request. Explain calls it after the middleware has returned. Must not change
   * anything. Undefined: the plugin did nothing.
   */
  explain?(ctx: W[L]['context'], options: OptionsOf<S>): PluginWords | undefined;
  create(setup: {
    options: OptionsOf<S>;
    host: HostTools<N, W['capabilities']> & W['services'];
  }): Made<W[L]['context']> | Promise<Made<W[L]['context']>>;
}

/** The result of a plugin's `create`. */
export type CreatedPlugin<C = GatewayContext> = Middleware<C> | Step<C>;
/** The same with the hooks of a plugin that declares `reads`. */
export type Made<C = GatewayContext> = CreatedPlugin<C> | PluginHooks<C>;

/** The version of the plugin API. It grows when names are added that a plugin may rely on. */
export const PLUGIN_API = 1;

type Definition = PluginDefinition<PluginLevel, object, never>;

const NO_OPTIONS = { type: 'object', additionalProperties: false, properties: {} } as const;
const DEFAULTS = { options: NO_OPTIONS, needs: [], requires: [], provides: [], repeats: false, pure: false, minApi: 1 };
const OTHERS = ['name', 'level', 'errors', 'state', 'reads', 'explain', 'idleFor', 'create'] as const;

/** A field that this gateway does not know may be a guarantee that it would not keep. */
const FIELDS: ReadonlySet<string> = new Set([...Object.keys(DEFAULTS), ...OTHERS]);

/** A plugin as `definePlugin` returns it. */
export interface Plugin
  extends
    Pick<Definition, 'name' | 'level' | 'reads' | 'errors' | 'state'>,
    Readonly<Required<Pick<Definition, 'options' | 'requires' | 'provides' | 'repeats' | 'pure' | 'minApi'>>> {
  readonly needs: readonly string[];
  explain?(ctx: GatewayContext, options: unknown): PluginWords | undefined;
  idleFor?(subject: unknown, options: unknown): boolean;
  create(setup: { options: unknown; host: HostTools }): Made | Promise<Made>;
}

/**
 * Declares a plugin: a Koa middleware created from options that its schema has validated. The gateway creates it once
 * per place in a chain, when it loads the settings, never per request.
 *
 * @example
 * export default definePlugin({
 *   name: 'caller-header',
 *   level: 'request',
 *   create: () => async (ctx, next) => {
 *     await next();
 *     ctx.set('x-caller', ctx.exchange.caller?.keyId ?? '');
 *   },
 * });
 */
export function definePlugin<
  L extends PluginLevel,
  const S extends object = typeof NO_OPTIONS,
  const N extends keyof Capabilities = never,
>(definition: PluginDefinition<L, S, N>): Plugin {
  const unknown = Object.keys(definition).find((key) => !FIELDS.has(key));
  if (unknown !== undefined)
    throw new TypeError(
      `plugin "${definition.name}": version ${PLUGIN_API} of the plugin API has no "${unknown}"; is it written for a newer gateway?`,
    );
  const given = Object.entries(definition).filter(([, value]) => value !== undefined);
  // The functions take any options and host: the chain builder validates the options and grants what `needs` names before it calls them.
  return { ...DEFAULTS, ...Object.fromEntries(given) } as unknown as Plugin;
}
