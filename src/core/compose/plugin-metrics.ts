import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { PluginReports } from '../http/chain/instance.ts';
import { toMiddleware } from '../kernel/define.ts';
import type { Middleware } from '../kernel/index.ts';
import type { Families } from '../record/metrics/metrics.ts';
import type { Series } from '../record/metrics/series.ts';
import { isError } from '../kernel/outside/thrown.ts';
import type { ListedPlugin, Watch } from './chain-builder.ts';

type PluginFamilies = {
  readonly pluginDuration: Pick<Families['pluginDuration'], 'add' | 'held'>;
  readonly pluginErrors: Pick<Families['pluginErrors'], 'add'>;
};

export function pluginReports({ pluginDuration, pluginErrors }: PluginFamilies): PluginReports {
  /** By the plugin's name in the settings. A search by labels was a tenth of an empty plugin (measured). */
  const held = new Map<string, Series>();
  return {
    took: (plugin, ms) => {
      const known = held.get(plugin);
      if (known && !known.removed) return known.add(ms / 1000);
      pluginDuration.add({ plugin }, ms / 1000);
      const found = pluginDuration.held({ plugin });
      if (found) held.set(plugin, found);
      else held.delete(plugin);
    },
    threw: (plugin, error) => pluginErrors.add({ plugin, code: codeOf(error) }),
  };
}

/** The code that the client gets. */
const codeOf = (thrown: unknown): string =>
  isError(thrown) && thrown instanceof GatewayError ? (thrown.ownCode ?? thrown.code) : 'internal_error';

/** `telemetry.metrics.plugins`. */
export type MeasuredPlugins = 'external' | 'all' | 'off';

/** Measures built-in plugins as their guard measures external ones: the time without the plugins after it, and own errors. */
export function measuringPlugins(
  outer: Watch | undefined,
  which: MeasuredPlugins,
  { clock, pluginReports: reports }: { readonly clock: Clock; readonly pluginReports?: PluginReports | undefined },
): Watch | undefined {
  if (!reports || which !== 'all') return outer;
  const isMeasured = ({ plugin, builtin }: ListedPlugin): boolean =>
    builtin && !plugin.needs.some((need) => RUNS_CHAINS.has(need));
  return {
    ...outer,
    instantiate: (place, create) => {
      const made = isMeasured(place)
        ? async () => measured(place.instance, toMiddleware(await create()), clock, reports)
        : create;
      return outer?.instantiate ? outer.instantiate(place, made) : made();
    },
  };
}

/** Capabilities that run further chains: the own time of such a plugin would be that of everything in them. */
const RUNS_CHAINS: ReadonlySet<string> = new Set(['configs', 'attempts']);

function measured(name: string, middleware: Middleware, clock: Clock, { took, threw }: PluginReports): Middleware {
  return async (ctx, next) => {
    let inside = 0;
    let downstream: { readonly thrown: unknown } | undefined;
    const timedNext = async (): Promise<void> => {
      const from = clock.now();
      try {
        await next();
      } catch (thrown) {
        downstream = { thrown };
        throw thrown;
      } finally {
        inside += clock.now() - from;
      }
    };
    const from = clock.now();
    try {
      await middleware(ctx, timedNext);
    } catch (thrown) {
      if (!downstream || thrown !== downstream.thrown) threw(name, thrown);
      throw thrown;
    } finally {
      // Several calls of `next` may run at once.
      took(name, Math.max(0, clock.now() - from - inside));
    }
  };
}
