import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

/** Each pattern takes linear time: no repetition is nested, and every repetition before a fixed character is bounded. */
const PATTERNS = {
  card_number: /\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b/,
  email: /[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2}/i,
};

/** Refuses requests that contain personal data. An attempt plugin: it sees the body as it goes to one target. */
export default definePlugin({
  name: 'guard',
  level: 'attempt',
  pure: true,
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['refuse'],
    properties: {
      refuse: {
        description: 'What a request may not contain.',
        type: 'array',
        items: { type: 'string', enum: Object.keys(PATTERNS) },
      },
    },
  },
  explain: (_, { refuse }) => ({ does: `refuses ${refuse.join(', ')}` }),
  create({ options: { refuse } }) {
    return async function guard({ attempt }, next) {
      // Written again: the caller may have written characters as escapes.
      const text = JSON.stringify(attempt.body.json());
      const found = refuse.find((name) => PATTERNS[name].test(text));
      if (found)
        throw new GatewayError('content_filter', `The guard of this gateway found a text like this: ${found}.`);
      await next();
    };
  },
});
