import type { Attempt, Exchange, Sender } from '../kernel/index.ts';
import { createSender } from '../send/send.ts';
import type { OutboundRequest, Upstream } from '../upstream/types.ts';
import { NO_UPSTREAM } from './fakes.ts';

/** A call of an upstream as it was about to leave, with its credentials. */
export interface DryCall {
  readonly attempt: Attempt;
  readonly request: OutboundRequest;
  /** Names of the headers that `send` added to the encoded request or replaced: credentials. */
  readonly credentials: readonly string[];
}

export const SECRET = '[secret]';

type DrySenderSetup = Omit<Parameters<typeof createSender>[0], 'upstream'>;

type AnswerCall = (
  call: DryCall,
  exchange: Exchange,
  timings: Parameters<Upstream['send']>[1],
) => ReturnType<Upstream['send']>;

/** The sender of dry runs: a request is encoded, authorized and given to `answer`, with nothing behind it. */
export const createDrySender = (setup: DrySenderSetup, answer: AnswerCall): Sender => ({
  send(exchange, attempt) {
    const upstream: Upstream = {
      ...NO_UPSTREAM,
      send: (request, timings) => answer(callOf(attempt, request), exchange, timings),
    };
    return createSender({ ...setup, upstream }).send(exchange, attempt);
  },
});

function callOf(attempt: Attempt, request: OutboundRequest): DryCall {
  const encoded = attempt.outbound?.headers ?? {};
  const { headers } = request;
  return { attempt, request, credentials: Object.keys(headers).filter((name) => headers[name] !== encoded[name]) };
}
