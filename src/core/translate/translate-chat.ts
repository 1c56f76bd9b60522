import type { Conversation } from '../../formats/conversation.ts';
import type { Format, ReplyContext } from '../../formats/format.ts';
import { translatingReader, type Translation } from '../../formats/streams/readers.ts';
import { joinLosses } from '../../formats/losses/losses.ts';
import { restoringNames } from '../../formats/name-aliases.ts';
import { translateRequest } from '../../formats/translate.ts';
import { writeJson } from '../../formats/json/text.ts';
import type { Prepared, ResolvedTarget, Steps } from '../../plugin/index.ts';
import { CallersBody } from './callers-body.ts';
import { fitParams, withParams } from './fit-params.ts';
import { LongUsers } from './long-users.ts';
import { signatureRemoval } from './refused-signatures.ts';
import { callId } from '../../plugin/ids.ts';
import { encodingTarget, isStream, keptBody, placeOf, targetOf, wholeBody, type Job } from './translation-job.ts';

/** Prepares a generation request. Throws RequestFault. */
export function* prepareGeneration(job: Job): Steps<Prepared> {
  if (job.upstream.name !== job.operation.format.name || isOfOtherModel(job)) return yield* translate(job);
  const fitted = fitParams(job);
  if (!fitted) return yield* translate(job);
  return withParams(passThrough(fitted.job), fitted);
}

/**
 * True for a body that the target's model would refuse, as one for another generation. The upstream's model decides: a client sends
 * what a name suggests, and coding agents send the newest form to every name that they do not know.
 */
export function isOfOtherModel({
  attempt: { body },
  resolved,
  upstream,
}: Pick<Job, 'attempt' | 'resolved' | 'upstream'>): boolean {
  return upstream.misfits?.(new CallersBody(body), resolved) ?? false;
}

/** Same format on both sides: sends the caller's bytes with the target's edits spliced in. Throws RequestFault. */
export function passThrough(job: Job): Prepared {
  const { resolved, upstream, operation } = job;
  const source = keptBody(job);
  const own = operation.format;
  const stream = isStream(source);
  // The gateway removes usage only if it requested the usage itself.
  const client = resolved.streamUsage === false ? { ...job.client, includeUsage: true } : job.client;
  const target = targetOf(job);
  const cleaning = upstream.clean?.(new CallersBody(source), target);
  const reply = replyContext(resolved);
  // One of several answers may begin with a chain of thought where the first does not.
  const several = reply.inlineThinking === true && source.has('n') && source.value('n') !== 1;
  const ofFormat = upstream.passThroughEdits(source, target);
  const body = source.edit(cleaning ? [...cleaning.edits, ...ofFormat] : ofFormat);
  return {
    losses: cleaning?.losses ?? [],
    outbound: {
      ...placeOf(job, cleaning?.headers),
      body: body.encode(),
      stream,
      contentType: stream ? own.contentType.stream : undefined,
      openReader: ({ headers }) => {
        if (stream && (several || isDocument(headers, own)))
          return translatingReader(writtenAnew(job), stream, typeOf(headers));
        return own.passThrough(client, stream, reply.inlineThinking ? reply : undefined);
      },
      decodeError: upstream.decodeError,
      withoutSignatures: signatureRemoval(upstream, target),
    },
  };
}

const JSON_TYPE = /^application\/json\b/i;

type ReplyHeaders = Readonly<Record<string, string>>;

const typeOf = (headers: ReplyHeaders): string => headers['content-type'] ?? '';

/** True for a JSON reply to a stream request, where the API streams in another way. */
const isDocument = (headers: ReplyHeaders, { streamsAsJson }: Format): boolean =>
  JSON_TYPE.test(typeOf(headers)) && !streamsAsJson;

/**
 * Converts a JSON reply to a stream request into the requested stream. A server without streams replies with the whole
 * document, and some report an error with status 200. Nothing is hidden or renamed: the reply is in the client's own
 * format.
 */
function writtenAnew({ resolved, upstream, client, operation }: Job): Translation {
  const context = { ...client, hideThoughts: false, ownId: false };
  return { upstream, client: operation.format, reply: replyContext(resolved), context };
}

function replyContext({ model, inlineThinking, signatureScope }: ResolvedTarget): ReplyContext {
  return {
    model,
    newCallId: callId,
    ...(inlineThinking && { inlineThinking }),
    ...(signatureScope !== undefined && { signatureScope }),
  };
}

function* translate(job: Job): Steps<Prepared> {
  const { attempt, resolved, operation, upstream } = job;
  const reply = replyContext(resolved);
  const target = encodingTarget(job);
  const json = yield* wholeBody(job);
  const users = new LongUsers(resolved.format, operation.format);
  const { configParams: params } = job;
  const change = (conversation: Conversation): Conversation =>
    users.shorten(params ? params.merge(conversation) : conversation);
  const client = params ? params.named(operation.format) : operation.format;
  const translated = yield* translateRequest(json, {
    change,
    client,
    upstream,
    target,
    reply,
    alsoNamed: params?.fields,
  });
  const encoded = params ? params.complete(translated, upstream, target) : translated;
  yield;
  const stream = isStream(attempt.body);
  const context = encoded.echo ? { ...job.client, echo: encoded.echo } : job.client;
  const { reply: sent } = encoded;
  const translation = {
    upstream: restoringNames(upstream, sent.toolNames),
    client: operation.format,
    reply: sent,
    context,
  };
  const own = operation.format;
  const passes = isUnchanged(job, sent);
  const unshown = operation.format.unshown?.(attempt.body, job.client);
  return {
    losses: joinLosses(encoded.losses, users.losses, unshown ?? []),
    ...(encoded.defaulted && { defaulted: encoded.defaulted }),
    outbound: {
      ...placeOf(job, encoded.headers),
      body: writeJson(encoded.body),
      stream,
      contentType: stream ? own.contentType.stream : own.contentType.body,
      openReader: ({ headers }) =>
        passes && !(stream && isDocument(headers, own))
          ? own.passThrough(job.client, stream)
          : translatingReader(translation, stream, typeOf(headers)),
      decodeError: withHint(upstream.decodeError, encoded.hint),
      withoutSignatures: signatureRemoval(upstream, target),
    },
  };
}

/**
 * True where the reply of a request that was written anew needs no translation: both sides have one API, and nothing in the request
 * stands for something else. Events and fields that the gateway does not know stay, and so do thoughts: Claude may demand them back.
 */
function isUnchanged({ upstream, operation }: Job, reply: ReplyContext): boolean {
  const { customTools, jsonTool, inlineThinking = false } = reply;
  const asSent = jsonTool === undefined && !inlineThinking && (customTools?.size ?? 0) === 0;
  return upstream.name === operation.format.name && asSent;
}

/** Appends the hint to the upstream's message: it only guesses at the reason of the refusal. */
function withHint(decodeError: Format['decodeError'], hint: string | undefined): Format['decodeError'] {
  if (hint === undefined) return decodeError;
  return (status, text) => {
    const failure = decodeError(status, text);
    return status === 400 ? { ...failure, message: `${failure.message} (Hint: ${hint})` } : failure;
  };
}
