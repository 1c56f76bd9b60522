import type { KindTexts } from './kind.ts';

export const guard: KindTexts = {
  does: 'It refuses requests with a word that is not allowed.',
  code: `import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

/** Refuses requests of every API with a word that is not allowed. */
export default definePlugin({
  name: 'NAME',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['words'],
    properties: {
      words: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', minLength: 1 },
        description: 'The words, in any case.',
      },
    },
  },
  pure: true,
  reads: { request: 'observe' },
  create: ({ options }) => {
    const words = options.words.map((word) => word.toLowerCase());
    return {
      request(view) {
        const isRefused = view.texts().some(({ text }) => words.some((word) => text.toLowerCase().includes(word)));
        // The client gets it in the form of its API. The word is not in the message: logs have it.
        if (isRefused) throw new GatewayError('content_filter', 'The request has a word that is not allowed.');
      },
      // An upload has no texts that hooks see.
      unseen({ on }) {
        if (on === 'request') throw new GatewayError('content_filter', 'The request cannot be read.');
      },
    };
  },
});
`,
  uses: ['createExchange', 'runPlugin'],
  test: `test('lets other requests pass', { timeout: 60_000 }, async () => {
  const { nextCalls } = await runPlugin(plugin, { options, exchange: createExchange() });
  assert.equal(nextCalls, 1);
});
`,
  options: `{ words: ['falcon'] }`,
  chains: `chains:
  request: { add: [{ plugin: NAME, before: route, options: { words: [falcon] }, always: true }] }
`,
  cases: `  - name: a request with the word is sent nowhere
    request: { body: { model: any, messages: [{ role: user, content: What is project Falcon? }] } }
    expect: { status: 400, body: { error: { code: content_filter } } }

  - name: another request is answered
    request: { body: { model: any, messages: [{ role: user, content: Hello }] } }
    upstream: [{ answer: Hello }]
    expect: { status: 200 }
`,
};
