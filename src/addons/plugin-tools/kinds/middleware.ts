import type { KindTexts } from './kind.ts';

export const middleware: KindTexts = {
  does: 'It names the caller in a header of every reply.',
  code: `import { definePlugin } from 'gatehouse-gateway/plugin';

/** Names the caller in a header of every reply. */
export default definePlugin({
  name: 'NAME',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      header: { type: 'string', pattern: '^[a-z][a-z0-9-]*$', default: 'x-caller', description: 'Name of the header.' },
    },
  },
  // It does nothing but this, so that \`gatehouse explain\` may run it.
  pure: true,
  explain: (_, { header }) => ({ does: \`sets \${header}\` }),
  create: ({ options }) =>
    async function ({ exchange }, next) {
      await next();
      if (exchange.reply) exchange.reply.headers[options.header] = exchange.caller?.keyId ?? 'nobody';
    },
});
`,
  uses: ['createExchange', 'createReply', 'runPlugin'],
  test: `test('names the caller', { timeout: 60_000 }, async () => {
  const exchange = createExchange();
  await runPlugin(plugin, { exchange, next: () => void (exchange.reply = createReply('{}')) });
  assert.equal(exchange.reply?.headers['x-caller'], 'test');
});
`,
  chains: `chains:
  request: { add: [{ plugin: NAME, before: route }] }
`,
  cases: `  - name: the reply names the caller
    key: demo
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream: [{ answer: Hello }]
    expect: { status: 200, headers: { x-caller: demo } }
`,
};
