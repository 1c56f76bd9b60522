import { appendFile } from 'node:fs/promises';
import { definePlugin } from 'gatehouse-gateway/plugin';

/** Writes one line for each request that has ended, for every API, streamed or not. */
export default definePlugin({
  name: 'my-plugin',
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
    let written = Promise.resolve();
    let waiting = 0;
    host.onClose(() => written);
    return {
      end({ id, model, state, status, usage, durationMs }, { exchange }) {
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
