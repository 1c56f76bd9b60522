import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

const refused = (message) => new GatewayError('content_filter', message);

/** Asks a service whether a request may be sent. Without an answer it is refused. */
export default definePlugin({
  name: 'ask',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: {
        type: 'string',
        format: 'uri',
        description: 'POST of { texts }; answers { "verdict": "allow" | "deny" }.',
      },
      timeout_ms: { type: 'integer', minimum: 1, default: 1000, description: 'Longest wait.' },
    },
  },
  reads: { request: 'observe' },
  create: ({ options, host }) => ({
    async request(view, { exchange: { cancellation } }) {
      const texts = view.texts().map(({ role, text }) => ({ role, text }));
      const answer = await fetch(options.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ texts }),
        signal: AbortSignal.any([cancellation.signal, AbortSignal.timeout(options.timeout_ms)]),
      })
        .then((reply) => reply.json())
        .catch((err) => host.log.warn({ err }, 'the guard service did not answer'));
      cancellation.throwIfCancelled();
      if (answer?.verdict !== 'allow') throw refused('The guard does not allow this request.');
    },
    unseen({ on }) {
      if (on === 'request') throw refused('The guard cannot read this request.');
    },
  }),
});
