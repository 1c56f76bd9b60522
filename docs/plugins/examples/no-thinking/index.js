import { definePlugin } from 'gatehouse-gateway/plugin';

const THINKING = new Set(['thinking', 'redacted_thinking', 'signature']);

/** Leaves the thinking of a model out of its replies, which are decoded and written anew. */
export default definePlugin({
  name: 'no-thinking',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: {} },
  reads: { reply: 'events' },
  pure: true,
  create: () => ({ events: () => (event) => (THINKING.has(event.type) ? undefined : event) }),
});
