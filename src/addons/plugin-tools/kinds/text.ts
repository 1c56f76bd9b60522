import type { KindTexts } from './kind.ts';

export const text: KindTexts = {
  does: 'It replaces e-mail addresses in requests and replies.',
  code: `import { definePlugin, replacing } from 'gatehouse-gateway/plugin';

const MAIL = /[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,4}/g;

/** Replaces e-mail addresses in requests and replies of every API, streamed or not. */
export default definePlugin({
  name: 'NAME',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: { by: { type: 'string', default: '[EMAIL]', description: 'The text in place of an address.' } },
  },
  pure: true,
  reads: { request: 'texts', reply: 'texts', kinds: ['text', 'tool_arguments'] },
  create: ({ options: { by } }) => ({
    request(view) {
      for (const one of view.texts()) one.replace(one.text.replaceAll(MAIL, () => by));
    },
    // \`longest\` characters wait while they may still become an address.
    reply: () => replacing(MAIL, () => by, { longest: 384, of: /[\\w.+@-]/ }),
  }),
});
`,
  uses: ['createExchange', 'runPlugin'],
  test: `test('runs on a request without texts', { timeout: 60_000 }, async () => {
  const { nextCalls } = await runPlugin(plugin, { exchange: createExchange() });
  assert.equal(nextCalls, 1);
});
`,
  chains: `chains:
  request: { add: [{ plugin: NAME, before: route }] }
`,
  cases: `  - name: neither the model nor the caller gets an address
    request: { body: { model: any, messages: [{ role: user, content: Write to ada@example.com. }] } }
    upstream: [{ answer: I wrote to ada@example.com. }]
    expect:
      outbound: { body: { messages: [{ content: "Write to [EMAIL]." }] } }
      body: { choices: [{ message: { content: "I wrote to [EMAIL]." } }] }

  - name: nor does the caller of a stream
    request: { body: { model: any, stream: true, messages: [{ role: user, content: Hello }] } }
    upstream: [{ answer: I wrote to ada@example.com. }]
    expect: { stream: { text: "I wrote to [EMAIL].", ends: complete } }
`,
};
