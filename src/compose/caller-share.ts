import type { GatewayContext, Middleware } from '../plugin/index.ts';
import type { InFlight } from '../gateway/admission/in-flight.ts';
import type { Watch } from './chain-builder.ts';

/**
 * The second step of admission. A request takes its place before its caller is known; this checks the caller's share
 * when the plugin that identifies the caller calls `next`. It is not a plugin of its own, so no plugin list can leave
 * it out.
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
      // Without a handler, a plugin that forgets to await `next` would end the process.
      refused.catch(() => {});
      return refused;
    });
