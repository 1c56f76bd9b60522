import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

/** Refuses requests of every API with a word that is not allowed. */
export default definePlugin({
  name: 'my-plugin',
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
