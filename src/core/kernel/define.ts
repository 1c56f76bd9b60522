import {
  definePlugin as define,
  type CreatedPlugin as PublicCreatedPlugin,
  type Made,
  type HostTools,
  type Middleware as PublicMiddleware,
  type Plugin as PublicPlugin,
  type PluginDefinition,
  type PluginLevel,
  type PluginTypes,
  type Step as PublicStep,
} from '../../plugin/define.ts';
import type { HostServices } from '../../plugin/services.ts';
import type { Capabilities, CapabilityName } from './capabilities.ts';
import type { AttemptContext, GatewayContext } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { GatewayConfig, Target } from './settings.ts';

export const PLUGIN_LEVELS: readonly PluginLevel[] = ['entry', 'request', 'attempt'];

interface ServedTypes extends BuiltInTypes {
  readonly services: HostServices;
}

interface BuiltInTypes extends PluginTypes {
  readonly capabilities: Capabilities;
  readonly entry: { readonly context: GatewayContext; readonly subject: Operation | undefined };
  readonly request: { readonly context: GatewayContext; readonly subject: GatewayConfig };
  readonly attempt: { readonly context: AttemptContext; readonly subject: Target };
}

export type PluginHost<N extends CapabilityName = never> = HostTools<N, Capabilities>;
export type Middleware<C = GatewayContext> = PublicMiddleware<C>;
export type Step<C = GatewayContext> = PublicStep<C>;
export type CreatedPlugin<C = GatewayContext> = PublicCreatedPlugin<C>;

/** A plugin as the registry holds it. */
export interface Plugin extends PublicPlugin {
  readonly needs: readonly CapabilityName[];
  /** A built-in plugin gets the services of the host. Every external one does. */
  readonly services?: true;
}

/** `definePlugin` of the plugin API, for a plugin that may need every capability and read the whole exchange. */
export const definePlugin = define as <
  L extends PluginLevel,
  const S extends object,
  const N extends CapabilityName = never,
>(
  definition: PluginDefinition<L, S, N, BuiltInTypes>,
) => Plugin;

/** The same for a plugin that gets the services of the host, as an external one does. */
export const defineServedPlugin = <
  L extends PluginLevel,
  const S extends object,
  const N extends CapabilityName = never,
>(
  definition: PluginDefinition<L, S, N, ServedTypes>,
): Plugin => ({
  ...definePlugin<L, S, N>(definition),
  services: true,
});

/** An external plugin may return anything. */
export const isCreated = (created: unknown): created is CreatedPlugin =>
  typeof created === 'function' ||
  (typeof created === 'object' && created !== null && 'step' in created && typeof created.step === 'function');

/** The plugin as Koa middleware, for code that wraps or watches it. */
export function toMiddleware<C>(created: Made<C>): Middleware<C> {
  if (typeof created === 'function') return created;
  if (!('step' in created)) throw new TypeError('hooks are no middleware: the plugin declares no `reads`');
  return (ctx, next) => {
    const waiting = created.step(ctx);
    return waiting ? waiting.then(next) : next();
  };
}
