import { entryOf } from '../catalog/catalog-target.ts';
import { GatewayError, type Reply } from '../../plugin/index.ts';
import type { Sender } from '../kernel/index.ts';
import type { RateGates } from '../kernel/rate-gates.ts';
import type { CommittedReply } from '../upstream/types.ts';
import { sendBatch } from './batches.ts';
import { sendUntilReply } from './call.ts';
import { limitHeaders } from './rate-limit-headers.ts';
import type { SendJob, SenderSetup, UpstreamCall } from './send-job.ts';

/** Sends an attempt's request: authorises, connects, waits for the commit gate, and turns refusals into errors. */
export function createSender(setup: SenderSetup): Sender {
  return {
    send(exchange, attempt) {
      const { outbound } = attempt;
      if (!outbound) throw new GatewayError('internal_error', 'The send plugin ran before a request was encoded.');
      if (outbound.answer) {
        const headers = { 'content-type': outbound.contentType ?? 'application/json' };
        return Promise.resolve({ status: 200, headers, body: outbound.answer, stream: false });
      }
      const entry = attempt.resolved && entryOf(attempt.resolved);
      if (!entry) throw new GatewayError('internal_error', 'The send plugin got a target without a catalog entry.');
      const job: SendJob = { setup, exchange, attempt, outbound, entry };
      if (outbound.batch) return sendBatch(job, outbound.batch).then((reply) => toReply(reply, job));
      return sendUntilReply(job, wholeRequest(job), (reply) => toReply(reply, job));
    },
  };
}

const wholeRequest = ({ attempt, outbound }: SendJob): UpstreamCall => ({
  number: 0,
  body: outbound.form ?? outbound.body,
  stream: outbound.stream,
  cancellation: attempt.cancellation,
  openReader: (reply) => {
    const reader = outbound.openReader(reply);
    attempt.signals = reader.signals;
    return reader;
  },
});

/**
 * Upstream reply headers that clients get. An upstream must not set cookies or connection headers for the client.
 * Limits of the gateway's own account are left out: they show how much all callers together have used.
 */
const FORWARDED: ReadonlySet<string> = new Set(['request-id', 'retry-after', 'retry-after-ms', 'openai-processing-ms']);

function toReply(result: Pick<CommittedReply, 'status' | 'headers' | 'body'>, job: SendJob): Reply {
  const { outbound } = job;
  const headers: Record<string, string> = {};
  for (const name in result.headers) if (FORWARDED.has(name)) headers[name] = result.headers[name]!;
  Object.assign(headers, limitHeaders(result.headers, job));
  headers['content-type'] = outbound.contentType ?? result.headers['content-type'] ?? 'application/json';
  if (outbound.stream) headers['cache-control'] = 'no-cache';
  return { status: result.status, headers, body: result.body, stream: outbound.stream };
}

/** Asks the limits of the target before each try. No plugin, so that no list of plugins can leave it out. */
export const gatedSender = (sender: Sender, gates: Pick<RateGates, 'enterTarget' | 'fetch'>): Sender => ({
  async send(exchange, attempt) {
    // The gateway itself has the answer, and nothing is sent.
    if (attempt.outbound?.answer) return sender.send(exchange, attempt);
    const asked = gates.fetch?.(exchange, attempt);
    if (asked) await asked;
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
