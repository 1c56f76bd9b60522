import { createHash } from 'node:crypto';
import { definePlugin, NotMine } from 'gatehouse-gateway/plugin';

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
  create: ({ options, host }) => {
    const ids = new Map(Object.entries(options.callers).map(([id, digest]) => [digest, id]));
    return {
      async step({ exchange }) {
        const token = /^Bearer +(\S+)$/i.exec(exchange.request.headers.authorization ?? '')?.[1];
        // After NotMine the next plugin that provides `caller` tries.
        if (token === undefined) throw new NotMine('A token is needed: authorization: Bearer TOKEN', 'missing_api_key');
        const id = ids.get(createHash('sha256').update(token).digest('hex'));
        if (id === undefined) throw new NotMine('The token is not known.');
        // Limits, budgets and records know the caller by this id. With `team` those of its team apply, too.
        exchange.caller = host.callers.make({ id });
      },
    };
  },
});
