import { definePlugin } from '../../src/plugin/index.ts';

/** Opens the record of a request and closes it when the reply has left. First in the entry chain, so that it sees all of it. */
export default definePlugin({
  name: 'telemetry',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['recorder'],
  provides: ['telemetry'],
  explain: () => ({ does: 'records the request when its reply has left' }),
  create({ host }) {
    return function telemetry({ exchange }, next) {
      const recording = host.recorder.open(exchange);
      // Not after `next`: that returns with the reply in hand and nothing sent.
      exchange.onEnd((end) => recording.close(end));
      return next();
    };
  },
});
