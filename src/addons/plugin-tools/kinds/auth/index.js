import { createHash } from 'node:crypto';
import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

/** Knows the caller by a bearer token. Settings hold digests, never tokens. */
export default definePlugin({
  name: 'my-plugin',
  level: 'entry',
  provides: ['caller'],
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['callers'],
    properties: {
      callers: {
        type: 'object',
        additionalProperties: { type: 'string', pattern: '^[0-9a-f]{64}$' },
        description: 'The SHA-256 digests of the tokens, by the id of their caller.',
      },
    },
  },
  pure: true,
  create: ({ options }) => {
    const ids = new Map(Object.entries(options.callers).map(([id, digest]) => [digest, id]));
    return {
      async step({ exchange }) {
        const token = /^Bearer +(\S+)$/i.exec(exchange.request.headers.authorization ?? '')?.[1];
        if (token === undefined)
          throw new GatewayError('missing_api_key', 'A token is needed: authorization: Bearer TOKEN');
        const keyId = ids.get(createHash('sha256').update(token).digest('hex'));
        if (keyId === undefined) throw new GatewayError('invalid_api_key', 'The token is not known.');
        // Limits, budgets and records know the caller by this id. `undefined`: no restriction.
        exchange.caller = {
          keyId,
          providers: undefined,
          models: undefined,
          configs: undefined,
          defaultConfig: undefined,
          inlineConfigs: false,
          customHosts: undefined,
        };
      },
    };
  },
});
