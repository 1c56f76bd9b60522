import type { Format, ReplyContext, SearchableBody } from '../formats/format.ts';
import { translatingReader, type Translation } from '../formats/streams/readers.ts';
import { translateRequest } from '../formats/translate.ts';
import { writeJson } from '../formats/json/text.ts';
import type { Prepared, RequestBody, Steps } from '../plugin/index.ts';
import { callId } from '../plugin/ids.ts';
import { isStream, placeOf, targetOf, wholeBody, type Job } from './translation-job.ts';

/** A request for an answer. Throws RequestFault. */
export function* prepareGeneration(job: Job): Steps<Prepared> {
  return job.upstream === job.operation.format ? passThrough(job) : yield* translate(job);
}

/** Same format on both sides: the caller's bytes, with what the target needs spliced in. */
function passThrough(job: Job): Prepared {
  const { attempt, resolved, upstream } = job;
  const stream = isStream(attempt.body);
  // Usage the gateway did not ask for is not the gateway's to take out again.
  const client = resolved.streamUsage === false ? { ...job.client, includeUsage: true } : job.client;
  const cleaning = upstream.clean?.(searchable(attempt.body));
  const body = attempt.body.edit([
    ...(cleaning?.edits ?? []),
    ...upstream.passThroughEdits(attempt.body, targetOf(job)),
  ]);
  return {
    losses: cleaning?.losses ?? [],
    outbound: {
      ...placeOf(job, undefined),
      body: body.encode(),
      stream,
      contentType: stream ? upstream.contentType.stream : undefined,
      openReader: ({ headers }) => {
        const type = headers['content-type'] ?? '';
        if (stream && JSON_TYPE.test(type)) return translatingReader(unstreamed(job), stream, type);
        return upstream.passThrough(client, stream);
      },
      decodeError: upstream.decodeError,
    },
  };
}

const JSON_TYPE = /^application\/json\b/i;

/**
 * A server that has no streams answers one with the whole reply, and some tell an error with 200: either is told as the stream that
 * was asked for, as it is between two formats. Nothing is hidden and nothing renamed: the reply is in the client's own format.
 */
function unstreamed({ resolved, upstream, client }: Job): Translation {
  const context = { ...client, hideThoughts: false, ownId: false };
  return { upstream, client: upstream, reply: { model: resolved.model, newCallId: callId }, context };
}

/** What an override has put in is the operator's word and stays. */
const searchable = (body: RequestBody): SearchableBody => ({
  has: (key) => body.has(key),
  value: (key) => body.value(key),
  contains: (text) => body.original.includes(text),
});

function* translate(job: Job): Steps<Prepared> {
  const { attempt, resolved, operation, upstream } = job;
  const reply: ReplyContext = { model: resolved.model, newCallId: callId };
  const encoded = yield* translateRequest(yield* wholeBody(job), {
    client: operation.format,
    upstream,
    target: targetOf(job),
    reply,
  });
  yield;
  const stream = isStream(attempt.body);
  const translation = { upstream, client: operation.format, reply: encoded.reply, context: job.client };
  return {
    losses: [...encoded.losses, ...(operation.format.unshown?.(attempt.body, job.client) ?? [])],
    outbound: {
      ...placeOf(job, encoded.headers),
      body: writeJson(encoded.body),
      stream,
      contentType: stream ? operation.format.contentType.stream : operation.format.contentType.body,
      openReader: ({ headers }) => translatingReader(translation, stream, headers['content-type'] ?? ''),
      decodeError: withHint(upstream.decodeError, encoded.hint),
    },
  };
}

/** The upstream's own words stay in front: the hint is a guess at why it refused. */
function withHint(decodeError: Format['decodeError'], hint: string | undefined): Format['decodeError'] {
  if (hint === undefined) return decodeError;
  return (status, text) => {
    const failure = decodeError(status, text);
    return status === 400 ? { ...failure, message: `${failure.message} (Hint: ${hint})` } : failure;
  };
}
