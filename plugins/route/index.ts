import {
  definePlugin,
  GatewayError,
  UpstreamError,
  type AttemptRunner,
  type GatewayContext,
  type Group,
  type Route,
} from '../../src/plugin/index.ts';

/** Walks the config's strategy tree and runs the attempt chain of one target after another until one answers. */
export default definePlugin({
  name: 'route',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['attempts'],
  provides: ['reply'],
  create({ host }) {
    return async function route(ctx, next) {
      const { config } = ctx.exchange;
      if (!config) throw new GatewayError('internal_error', 'The route plugin ran before a config was chosen.');
      await walk(config.route, ctx, host.attempts);
      await next();
    };
  },
});

function walk(route: Route, ctx: GatewayContext, attempts: AttemptRunner): Promise<void> {
  return route.kind === 'target' ? attempts.run(ctx, route) : fallback(route, ctx, attempts);
}

/** A `single` group has one member, so it is a fallback without a second choice. */
async function fallback(group: Group, ctx: GatewayContext, attempts: AttemptRunner): Promise<void> {
  for (const [index, member] of group.members.entries()) {
    try {
      return await walk(member, ctx, attempts);
    } catch (thrown) {
      const last = index === group.members.length - 1;
      if (last || ctx.exchange.cancellation.reason || !givesWay(thrown, group)) throw thrown;
    }
  }
}

/** What the client did wrong is wrong everywhere: only what came from an upstream, or from the way to it, gives way. */
function givesWay(thrown: unknown, group: Group): boolean {
  return thrown instanceof UpstreamError && group.onStatusCodes.has(thrown.status);
}
