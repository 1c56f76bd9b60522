import { definePlugin } from 'gatehouse-gateway/plugin';

const words = (text) => text.split(/\s+/).filter(Boolean).length;

/** Logs how many words a request and its reply have. It changes nothing and delays nothing. */
export default definePlugin({
  name: 'count-words',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: {} },
  reads: { request: 'observe', reply: 'observe' },
  create: ({ host }) => {
    const counts = new WeakMap();
    return {
      request(view, { exchange }) {
        const asked = view.texts().reduce((sum, { text }) => sum + words(text), 0);
        counts.set(exchange, { asked, answered: 0 });
      },
      reply: (_, { exchange }) => {
        let begun = '';
        return (text, final) => {
          begun += text;
          const count = counts.get(exchange);
          // A word may go on in the next piece.
          const end = final ? begun.length : begun.search(/\S*$/);
          if (count) count.answered += words(begun.slice(0, end));
          begun = begun.slice(end);
          return text;
        };
      },
      end({ id }, { exchange }) {
        host.log.info({ id, ...counts.get(exchange) }, 'words');
      },
    };
  },
});
