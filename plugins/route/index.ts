import { definePlugin, GatewayError } from '../../src/plugin/index.ts';
import { Walk } from './walk.ts';

/** Walks the config's strategy tree and runs the attempt chain of one target after another until one answers. */
export default definePlugin({
  name: 'route',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['attempts', 'health'],
  provides: ['reply'],
  create({ host }) {
    return async function route(ctx, next) {
      const { config } = ctx.exchange;
      if (!config) throw new GatewayError('internal_error', 'The route plugin ran before a config was chosen.');
      await new Walk(ctx, config, host).run();
      await next();
    };
  },
});
