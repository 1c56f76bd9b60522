import type { ReplyContext } from '../formats/format.ts';
import { translatingReader } from '../formats/readers.ts';
import { lossesOfReading } from '../formats/unread.ts';
import type { Prepared } from '../plugin/index.ts';
import { callId } from './ids.ts';
import { isStream, placeOf, targetOf, wholeBody, type Job } from './translation-job.ts';

/** A request for an answer. Throws RequestFault. */
export function prepareGeneration(job: Job): Prepared {
  return job.upstream === job.operation.format ? passThrough(job) : translate(job);
}

/** Same format on both sides: the caller's bytes, with what the target needs spliced in. */
function passThrough(job: Job): Prepared {
  const { attempt, resolved, upstream } = job;
  const stream = isStream(attempt.body);
  // Usage the gateway did not ask for is not the gateway's to take out again.
  const client = resolved.streamUsage === false ? { ...job.client, includeUsage: true } : job.client;
  const body = attempt.body.edit(upstream.passThroughEdits(attempt.body, targetOf(job)));
  return {
    losses: [],
    outbound: {
      ...placeOf(job, undefined),
      body: body.encode(),
      stream,
      contentType: undefined,
      openReader: () => upstream.passThrough(client, stream),
      decodeError: upstream.decodeError,
    },
  };
}

function translate(job: Job): Prepared {
  const { attempt, resolved, operation, upstream, client } = job;
  const conversation = operation.format.decodeRequest(wholeBody(job));
  const reply: ReplyContext = { model: resolved.model, newCallId: callId };
  const encoded = upstream.encodeRequest(conversation, targetOf(job), reply);
  const stream = isStream(attempt.body);
  const translation = { upstream, client: operation.format, reply: encoded.reply, context: client };
  return {
    losses: [...encoded.losses, ...lossesOfReading(conversation)],
    outbound: {
      ...placeOf(job, encoded.headers),
      body: JSON.stringify(encoded.body),
      stream,
      contentType: stream ? operation.format.contentType.stream : operation.format.contentType.body,
      openReader: ({ headers }) => translatingReader(translation, stream, headers['content-type'] ?? ''),
      decodeError: upstream.decodeError,
    },
  };
}
