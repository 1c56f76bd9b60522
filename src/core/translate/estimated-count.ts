import type { Prepared } from '../../plugin/index.ts';
import { placeOf, type Job } from './translation-job.ts';
import { createSignals } from '../../formats/events.ts';
import { GatewayError } from '../../plugin/index.ts';

/** Bytes of a request per token, the usual ratio of English text (docs/protocols/requests.md#token-counts). */
const BYTES_PER_TOKEN = 4;

/** A count that the gateway estimates because the target has none: nothing is sent. */
export function estimatedCount(job: Job): Prepared {
  const { operation, attempt, upstream } = job;
  const tokens = Math.ceil(attempt.body.original.length / BYTES_PER_TOKEN);
  const { counting } = operation.format;
  if (!counting) throw new GatewayError('internal_error', `${operation.id} has no form for a count.`);
  const answer = Buffer.from(JSON.stringify(counting.encodeReply(tokens)));
  return {
    losses: [],
    outbound: {
      ...placeOf(job, undefined),
      body: '',
      stream: false,
      contentType: 'application/json',
      answer,
      openReader: () => ({ signals: createSignals(), push: () => undefined, end: () => undefined }),
      decodeError: upstream.decodeError,
    },
  };
}
