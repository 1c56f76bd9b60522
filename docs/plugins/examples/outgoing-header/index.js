import { definePlugin } from 'gatehouse-gateway/plugin';

/** Sends the id of the caller to the upstream in a header. It belongs after `transform`, which makes the outgoing request. */
export default definePlugin({
  name: 'outgoing-header',
  level: 'attempt',
  requires: ['outbound'],
  options: {
    type: 'object',
    additionalProperties: false,
    properties: { header: { type: 'string', pattern: '^x-[a-z-]+$', default: 'x-caller', description: 'Its name.' } },
  },
  pure: true,
  create:
    ({ options }) =>
    async ({ exchange, attempt }, next) => {
      const { outbound } = attempt;
      const id = exchange.caller?.keyId ?? '';
      // The outgoing request is replaced, never changed in place.
      if (outbound) attempt.outbound = { ...outbound, headers: { ...outbound.headers, [options.header]: id } };
      await next();
    },
});
