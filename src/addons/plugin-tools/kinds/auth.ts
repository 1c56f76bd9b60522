import { createHash } from 'node:crypto';
import type { KindTexts } from './kind.ts';

const digest = createHash('sha256').update('demo-token').digest('hex');

export const auth: KindTexts = {
  does: 'It knows the caller by a token of your own, in place of gateway keys.',
  code: `import { createHash } from 'node:crypto';
import { definePlugin, NotMine } from 'gatehouse-gateway/plugin';

/** Knows the caller by a bearer token. Settings hold digests, never tokens. After NotMine the next plugin with \`caller\` tries. */
export default definePlugin({
  name: 'NAME',
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
        const token = /^Bearer +(\\S+)$/i.exec(exchange.request.headers.authorization ?? '')?.[1];
        if (token === undefined) throw new NotMine('A token is needed: authorization: Bearer TOKEN', 'missing_api_key');
        const id = ids.get(createHash('sha256').update(token).digest('hex'));
        if (id === undefined) throw new NotMine('The token is not known.');
        // Limits, budgets and records know the caller by this id. With \`team\` those of its team apply, too.
        exchange.caller = host.callers.make({ id });
      },
    };
  },
});
`,
  uses: ['createExchange', 'runPlugin'],
  test: `test('knows the caller of a token', { timeout: 60_000 }, async () => {
  const exchange = createExchange({ caller: undefined, headers: { authorization: 'Bearer demo-token' } });
  await runPlugin(plugin, { options, exchange });
  assert.equal(exchange.caller?.keyId, 'demo');
});

test('refuses another token', { timeout: 60_000 }, async () => {
  const exchange = createExchange({ caller: undefined, headers: { authorization: 'Bearer other' } });
  await assert.rejects(runPlugin(plugin, { options, exchange }), { code: 'invalid_api_key' });
});
`,
  options: `{ callers: { demo: '${digest}' } }`,
  chains: `chains:
  entry:
    # The digest of demo-token.
    add: [{ plugin: NAME, after: errors, options: { callers: { demo: ${digest} } } }]
    remove: [auth]
`,
  cases: `  - name: a known token is served
    headers: { authorization: Bearer demo-token }
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream: [{ answer: Hello }]
    expect: { status: 200 }

  - name: another token is refused
    headers: { authorization: Bearer other }
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    expect: { status: 401, body: { error: { code: invalid_api_key } } }
`,
  hasCallers: true,
};
