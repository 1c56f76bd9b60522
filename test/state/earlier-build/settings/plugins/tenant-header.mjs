import { definePlugin } from 'gatehouse-gateway/plugin';

export default definePlugin({
  name: 'tenant-header',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['header'],
    properties: { header: { type: 'string' } },
  },
  pure: true,
  explain: ({ exchange }, { header }) => ({ does: `sets ${header} to ${exchange.caller.keyId}` }),
  create({ options }) {
    return async function tenantHeader(ctx, next) {
      await next();
      ctx.exchange.reply.headers[options.header] = ctx.exchange.caller.keyId;
    };
  },
});
