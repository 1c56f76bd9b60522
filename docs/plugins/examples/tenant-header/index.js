import { definePlugin } from 'gatehouse-gateway/plugin';

/** Names the caller in a header of every reply. */
export default definePlugin({
  name: 'tenant-header',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: { header: { type: 'string', pattern: '^[a-z-]+$', default: 'x-tenant', description: 'Its name.' } },
  },
  pure: true,
  explain: (_, { header }) => ({ does: `sets ${header}` }),
  create: ({ options }) =>
    async function tenantHeader({ exchange }, next) {
      await next();
      if (exchange.reply) exchange.reply.headers[options.header] = exchange.caller?.keyId ?? '';
    },
});
