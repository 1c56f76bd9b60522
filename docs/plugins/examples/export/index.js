import { appendFile } from 'node:fs/promises';
import { definePlugin } from 'gatehouse-gateway/plugin';

/** Counts each request that has ended and writes one line for it, for every API, streamed or not. */
export default definePlugin({
  name: 'export',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      file: { type: 'string', minLength: 1, description: 'File to append to. Default: the log of the gateway.' },
    },
  },
  reads: {},
  create: ({ options: { file }, host }) => {
    const ended = host.metrics.counter('requests', { help: 'Requests that have ended.', labels: ['model', 'state'] });
    let written = Promise.resolve();
    let waiting = 0;
    host.onClose(() => written);
    return {
      end({ id, model, state, status, usage, durationMs }, { exchange }) {
        ended.add({ model: model ?? 'none', state });
        const line = { id, caller: exchange.caller?.keyId, model, state, status, usage, ms: Math.round(durationMs) };
        if (file === undefined) return host.log.info(line, 'request');
        // A disk that is slower than the requests loses lines, not memory.
        if (waiting === 10_000) return;
        waiting += 1;
        written = written
          .then(() => appendFile(file, `${JSON.stringify(line)}\n`))
          .catch((err) => host.log.error({ err }, 'cannot write'))
          .finally(() => void (waiting -= 1));
      },
    };
  },
});
