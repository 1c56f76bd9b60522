import {
  definePlugin,
  GatewayError,
  UpstreamError,
  type AttemptRunner,
  type GatewayContext,
  type Group,
  type Route,
} from '../../src/plugin/index.ts';
import { drawOrder } from './draw.ts';

/** Walks the config's strategy tree and runs the attempt chain of one target after another until one answers. */
export default definePlugin({
  name: 'route',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['attempts'],
  provides: ['reply'],
  create({ host }) {
    const { attempts, random } = host;
    return async function route(ctx, next) {
      const { config } = ctx.exchange;
      if (!config) throw new GatewayError('internal_error', 'The route plugin ran before a config was chosen.');
      await walk(config.route, ctx, { attempts, random });
      await next();
    };
  },
});

interface Tools {
  readonly attempts: AttemptRunner;
  readonly random: () => number;
}

function walk(route: Route, ctx: GatewayContext, tools: Tools): Promise<void> {
  return route.kind === 'target' ? tools.attempts.run(ctx, route) : tryInOrder(route, ctx, tools);
}

/** A `single` group has one member, so it is a fallback without a second choice; a load balance draws its order. */
async function tryInOrder(group: Group, ctx: GatewayContext, tools: Tools): Promise<void> {
  const members = group.mode === 'loadbalance' ? drawOrder(group, tools.random) : group.members;
  let failure: unknown = new GatewayError('internal_error', `${group.path} has no target to try.`);
  for (const member of members) {
    try {
      return await walk(member, ctx, tools);
    } catch (thrown) {
      if (ctx.exchange.cancellation.reason || !givesWay(thrown, group)) throw thrown;
      failure = thrown;
    }
  }
  throw failure;
}

/** What the client did wrong is wrong everywhere: only what came from an upstream, or from the way to it, gives way. */
function givesWay(thrown: unknown, group: Group): boolean {
  return thrown instanceof UpstreamError && group.onStatusCodes.has(thrown.status);
}
