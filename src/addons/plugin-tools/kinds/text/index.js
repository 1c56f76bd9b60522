import { definePlugin, replacing } from 'gatehouse-gateway/plugin';

const MAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;

/** Replaces e-mail addresses in requests and replies of every API, streamed or not. */
export default definePlugin({
  name: 'my-plugin',
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
    // `longest` characters wait while they may still become an address.
    reply: () => replacing(MAIL, () => by, { longest: 384, of: /[\w.+@-]/ }),
  }),
});
