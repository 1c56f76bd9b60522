import { GatewayError, type Clock } from '../../plugin/index.ts';
import { isCreated, toMiddleware } from '../kernel/define.ts';
import type { Middleware } from '../kernel/index.ts';
import type { Families } from '../record/metrics/metrics.ts';
import { isError } from '../kernel/outside/thrown.ts';
import type { ListedPlugin, Watch } from './chain-builder.ts';

export interface PluginReports {
  /** @param ms own time of one run */
  readonly took: (plugin: string, ms: number) => void;
  /** @param code what the client gets */
  readonly threw: (plugin: string, code: string) => void;
}

export const pluginReports = (families: Pick<Families, 'pluginDuration' | 'pluginErrors'>): PluginReports => ({
  took: (plugin, ms) => families.pluginDuration.add({ plugin }, ms / 1000),
  threw: (plugin, code) => families.pluginErrors.add({ plugin, code }),
});

/** `telemetry.metrics.plugins`. */
export type MeasuredPlugins = 'external' | 'all' | 'off';

/**
 * Measures plugins: the time of a run without the plugins after it, and its own errors. By default only external
 * plugins are wrapped, which are watched anyway.
 */
export function measuringPlugins(
  outer: Watch | undefined,
  which: MeasuredPlugins,
  { clock, pluginReports: reports }: { readonly clock: Clock; readonly pluginReports?: PluginReports | undefined },
): Watch | undefined {
  if (!reports || which === 'off') return outer;
  const isMeasured = ({ plugin, builtin }: ListedPlugin): boolean =>
    which === 'all' ? !plugin.needs.some((need) => RUNS_CHAINS.has(need)) : !builtin;
  return {
    ...outer,
    instantiate: (place, create) => {
      const { instance } = place;
      const made = isMeasured(place)
        ? async () => {
            const created = await create();
            // An outside plugin may return anything; the compiler of the chain reports it.
            return isCreated(created) ? measured(instance, toMiddleware(created), clock, reports) : created;
          }
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
    const timedNext = (): Promise<void> => {
      const from = clock.now();
      const done = next();
      // Before the plugin goes on. A failure that the plugin does not await would be unhandled and end the process.
      done.then(
        () => void (inside += clock.now() - from),
        (thrown: unknown) => {
          inside += clock.now() - from;
          downstream = { thrown };
        },
      );
      return done;
    };
    const from = clock.now();
    try {
      await middleware(ctx, timedNext);
    } catch (thrown) {
      if (!downstream || thrown !== downstream.thrown) threw(name, codeOf(thrown));
      throw thrown;
    } finally {
      // Several calls of `next` may run at once.
      took(name, Math.max(0, clock.now() - from - inside));
    }
  };
}

const codeOf = (thrown: unknown): string =>
  isError(thrown) && thrown instanceof GatewayError ? (thrown.ownCode ?? thrown.code) : 'internal_error';
