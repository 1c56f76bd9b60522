import { GatewayError } from '../../plugin/index.ts';
import type { RateGates } from '../kernel/rate-gates.ts';
import type { Sender } from '../kernel/index.ts';

/**
 * A sender that asks the limits of the target before each try. They are not a plugin, so that no list of plugins can leave
 * them out.
 */
export const gatedSender = (sender: Sender, gates: Pick<RateGates, 'enterTarget'>): Sender => ({
  async send(exchange, attempt) {
    // The gateway itself has the answer, and nothing is sent.
    if (attempt.outbound?.answer) return sender.send(exchange, attempt);
    const ticket = gates.enterTarget(exchange, attempt);
    if (!ticket) return sender.send(exchange, attempt);
    if (ticket instanceof GatewayError) throw ticket;
    try {
      const reply = await sender.send(exchange, attempt);
      exchange.onEnd(() => ticket.leave());
      return reply;
    } catch (error) {
      ticket.leave();
      throw error;
    }
  },
});
