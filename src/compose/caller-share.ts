import type { GatewayContext, Middleware } from '../plugin/index.ts';
import type { InFlight } from '../gateway/admission/in-flight.ts';
import type { Watch } from './chain-builder.ts';

/**
 * The second step of admission. A request takes its place before its caller is known; the caller's share is checked when the plugin
 * that finds the caller goes on. The check belongs to no plugin of its own: no list of plugins in the settings can leave it out.
 */
export const admitting = (inFlight: Pick<InFlight, 'admit'>, watch: Watch = {}): Watch => ({
  ...watch,
  instantiate(place, create) {
    if (!place.plugin.provides.includes('caller')) return watch.instantiate?.(place, create) ?? create();
    const checked = async (): Promise<Middleware> => withCheck(await create(), inFlight);
    return watch.instantiate?.(place, checked) ?? checked();
  },
});

const withCheck =
  (middleware: Middleware, inFlight: Pick<InFlight, 'admit'>): Middleware =>
  (ctx: GatewayContext, next) =>
    middleware(ctx, () => {
      const refusal = inFlight.admit(ctx.exchange);
      if (!refusal) return next();
      const refused = Promise.reject<void>(refusal);
      // A plugin that forgets its `await` must not end the process with it.
      refused.catch(() => {});
      return refused;
    });
