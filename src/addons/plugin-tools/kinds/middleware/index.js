import { definePlugin } from 'gatehouse-gateway/plugin';

/** Names the caller in a header of every reply. */
export default definePlugin({
  name: 'my-plugin',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      header: { type: 'string', pattern: '^[a-z][a-z0-9-]*$', default: 'x-caller', description: 'Name of the header.' },
    },
  },
  // It does nothing but this, so that `gatehouse explain` may run it.
  pure: true,
  explain: (_, { header }) => ({ does: `sets ${header}` }),
  create: ({ options }) =>
    async function ({ exchange }, next) {
      await next();
      if (exchange.reply) exchange.reply.headers[options.header] = exchange.caller?.keyId ?? 'none';
    },
});
