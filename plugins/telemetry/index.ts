import { definePlugin } from '../../src/core/kernel/index.ts';

/** Opens the record of a request and closes it when the reply has been sent. First, so that it covers all. */
export default definePlugin({
  name: 'telemetry',
  level: 'entry',
  needs: ['recorder'],
  provides: ['telemetry'],
  explain: () => ({ does: 'records the request when its reply has been sent' }),
  create({ host }) {
    return {
      step({ exchange }) {
        const recording = host.recorder.open(exchange);
        // Not after the rest of the chain, which returns when the reply exists but nothing has been sent.
        exchange.onEnd(recording.close);
        return undefined;
      },
    };
  },
});
