import { definePlugin } from '../../src/core/kernel/index.ts';

/** Sends the attempt's request once. The reply's content has started, and nothing has been sent to the client. */
export default definePlugin({
  name: 'send',
  level: 'attempt',
  needs: ['send'],
  requires: ['outbound'],
  provides: ['reply'],
  explain({ attempt: { outbound } }) {
    if (!outbound) return undefined;
    if (outbound.answer) return { does: 'replies with the estimate; nothing is sent' };
    const calls = outbound.batch?.bodies.length ?? 1;
    return { does: `POST ${outbound.origin}${outbound.path}${calls > 1 ? `, ${calls} times` : ''}` };
  },
  create({ host }) {
    return {
      step({ exchange, attempt }) {
        return host.send.send(exchange, attempt).then((reply) => {
          attempt.reply = reply;
        });
      },
    };
  },
});
