import { definePlugin } from 'gatehouse-gateway/plugin';

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
      timeout_ms: { type: 'integer', minimum: 1, maximum: 60000, default: 1000, description: 'Longest wait.' },
      allow_insecure: { type: 'boolean', default: false, description: 'Plain http, and the own network.' },
    },
  },
  errors: { text_refused: { status: 403, type: 'permission_error' } },
  reads: { request: 'observe' },
  create: ({ options, host }) => ({
    async request(view) {
      const texts = view.texts().map(({ role, text }) => ({ role, text }));
      // It ends with the request, and rejects with a 503 where the service does not answer.
      const reply = await host.fetch(options.url, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ texts }),
        timeout: options.timeout_ms,
        allowInsecure: options.allow_insecure,
      });
      const { verdict } = reply.status === 200 ? reply.json() : {};
      if (verdict !== 'allow') throw host.error('text_refused', 'The guard does not allow this request.');
    },
    unseen({ on }) {
      if (on === 'request') throw host.error('text_refused', 'The guard cannot read this request.');
    },
  }),
});
