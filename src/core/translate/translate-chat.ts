import { hash } from 'node:crypto';
import type { Conversation, Loss } from '../../formats/conversation.ts';
import type { Format, PassThrough, PassThroughSupport, ReplyContext } from '../../formats/format.ts';
import type { RequestTarget } from '../../formats/request-target.ts';
import { translatingReader, type Translation } from '../../formats/streams/readers.ts';
import { joinLosses } from '../../formats/losses/losses.ts';
import { restoringNames } from '../../formats/name-aliases.ts';
import { translateRequest } from '../../formats/translate.ts';
import { writeJson } from '../../formats/json/text.ts';
import type { Outbound, Prepared, ResolvedTarget, Steps } from '../kernel/index.ts';
import { fitParams, withParams } from './fit-params.ts';
import { callId } from '../kernel/ids.ts';
import {
  encodingTarget,
  isStream,
  keptBody,
  placeOf,
  targetOf,
  viewOf,
  wholeBody,
  type TranslationJob,
} from './translation-job.ts';
import { REFUSED_SIGNATURE, refusesSignature } from '../../formats/refused-signature.ts';

export function* prepareGeneration(job: TranslationJob): Steps<Prepared> {
  const support = passThroughOf(job);
  const fitted = support && fitParams(job);
  return fitted ? withParams(keepRequest(fitted.job, support), fitted) : yield* writeRequest(job);
}

/**
 * The caller's bytes are sent where both sides have one format, which is that of the target's model. Undefined: the
 * request is written anew. A client sends what a model's name suggests, and coding agents send the newest form to any
 * name.
 */
export function passThroughOf({
  attempt: { body },
  resolved,
  operation: { format },
}: Pick<TranslationJob, 'attempt' | 'resolved' | 'operation'>): PassThroughSupport | undefined {
  if (resolved.format !== format.name || format.passThrough?.misfits(body, resolved)) return undefined;
  return format.passThrough;
}

/** The caller's bytes, with the target's edits spliced in. Throws RequestFault. */
export function keepRequest(job: TranslationJob, support: PassThroughSupport): Prepared {
  const { resolved, upstream, operation } = job;
  const source = keptBody(job);
  const stream = isStream(source);
  const target = targetOf(job);
  const cleaning = support.clean(source, target);
  const edits = support.edits(source, target);
  const body = source.edit(cleaning ? [...cleaning.edits, ...edits] : edits);
  // The gateway removes usage only if it requested the usage itself.
  const client = resolved.streamUsage === false ? { ...job.client, includeUsage: true } : job.client;
  const reply = replyContext(resolved);
  // One of several answers may begin with a chain of thought where the first does not.
  const severalThink = reply.inlineThinking === true && source.has('n') && source.value('n') !== 1;
  return {
    losses: cleaning?.losses ?? [],
    outbound: {
      ...placeOf(job, cleaning?.headers),
      body: body.encode(),
      stream,
      contentType: stream ? operation.format.contentType.stream : undefined,
      openReader: openReplies(operation.format, stream, {
        keep:
          stream && severalThink
            ? undefined
            : () => support.open(client, stream, reply.inlineThinking ? reply : undefined),
        // Nothing is hidden or renamed: the reply is in the client's own format.
        translation: () => ({
          upstream,
          client: operation.format,
          reply,
          context: { ...job.client, hideThoughts: false, ownId: false },
        }),
      }),
      decodeError: upstream.decodeError,
      withoutSignatures: signatureRemoval(upstream, target),
    },
  };
}

/** The request through the conversation, in the target's format. Throws RequestFault. */
function* writeRequest(job: TranslationJob): Steps<Prepared> {
  const { attempt, resolved, operation, upstream, client, configParams: params } = job;
  const target = encodingTarget(job);
  const json = yield* wholeBody(job);
  const ofUser: Loss[] = [];
  const translated = yield* translateRequest(json, {
    change: (conversation: Conversation) =>
      withShortUser(params ? params.merge(conversation) : conversation, job, ofUser),
    client: params ? params.named(operation.format) : operation.format,
    upstream,
    target,
    reply: replyContext(resolved),
    alsoNamed: params?.fields,
  });
  const encoded = params ? params.complete(translated, upstream, target) : translated;
  yield;
  const stream = isStream(attempt.body);
  const { contentType, passThrough: support } = operation.format;
  const translation: Translation = {
    upstream: restoringNames(upstream, encoded.reply.toolNames),
    client: operation.format,
    reply: encoded.reply,
    context: encoded.echo ? { ...client, echo: encoded.echo } : client,
  };
  const keepsReply = support && upstream.name === operation.format.name && isAsSent(encoded.reply);
  return {
    losses: joinLosses(encoded.losses, ofUser, operation.format.unshown(attempt.body, client)),
    ...(encoded.defaulted && { defaulted: encoded.defaulted }),
    outbound: {
      ...placeOf(job, encoded.headers),
      body: writeJson(encoded.body),
      stream,
      contentType: stream ? contentType.stream : contentType.body,
      openReader: openReplies(operation.format, stream, {
        keep: keepsReply ? () => support.open(client, stream) : undefined,
        translation: () => translation,
      }),
      decodeError: withHint(upstream.decodeError, encoded.hint),
      withoutSignatures: signatureRemoval(upstream, target),
    },
  };
}

const replyContext = ({ model, inlineThinking, signatureScope }: ResolvedTarget): ReplyContext => ({
  model,
  newCallId: callId,
  ...(inlineThinking && { inlineThinking }),
  ...(signatureScope !== undefined && { signatureScope }),
});

/**
 * True where the reply of a request that was written anew needs no translation: nothing in the request stands for
 * something else. Events and fields that the gateway does not know stay, and so do thoughts: Claude may demand them
 * back.
 */
const isAsSent = ({ customTools, jsonTool, inlineThinking = false }: ReplyContext): boolean =>
  jsonTool === undefined && !inlineThinking && (customTools?.size ?? 0) === 0;

interface ReplyWays {
  /** Opens the reader that keeps the bytes. Undefined: the reply is written anew. */
  readonly keep: (() => PassThrough) | undefined;
  readonly translation: () => Translation;
}

const JSON_TYPE = /^application\/json\b/i;

/**
 * Writes a reply anew where its bytes cannot stay, and where it is a JSON document in place of the stream that the
 * client wants: a server without streams replies with the whole document, and some report an error with status 200.
 */
function openReplies(own: Format, stream: boolean, { keep, translation }: ReplyWays): Outbound['openReader'] {
  return ({ headers: { 'content-type': type = '' } }) => {
    const isDocument = stream && JSON_TYPE.test(type) && own.passThrough?.streamsAsJson !== true;
    return keep && !isDocument ? keep() : translatingReader(translation(), stream, type);
  };
}

/** Appends the hint to the upstream's message: it only guesses at the reason of the refusal. */
function withHint(decodeError: Format['decodeError'], hint: string | undefined): Format['decodeError'] {
  if (hint === undefined) return decodeError;
  return (status, text) => {
    const failure = decodeError(status, text);
    return status === 400 ? { ...failure, message: `${failure.message} (Hint: ${hint})` } : failure;
  };
}

/** OpenAI allows 64 characters (docs/protocols/openai-chat.md#user), and Claude Code sends 150. */
const LONGEST = 64;

/** Shortens the identifier of the user for APIs that allow no long one. The same user has the same hash. */
function withShortUser(
  conversation: Conversation,
  { upstream, operation }: Pick<TranslationJob, 'upstream' | 'operation'>,
  losses: Loss[],
): Conversation {
  const { user } = conversation;
  if (!upstream.name.startsWith('openai') || user === undefined || user.length <= LONGEST) return conversation;
  const reason = `OpenAI takes at most ${LONGEST} characters: the SHA-256 of it was sent`;
  losses[0] = { param: operation.format.clientPaths('user')[0] ?? 'user', action: 'clamped', reason };
  return { ...conversation, user: hash('sha256', user) };
}

/** One path for all: the body is in the upstream's format, where the messages may have other numbers. */
const LOSS: Loss = {
  param: 'messages[].signature',
  action: 'dropped',
  reason: `${REFUSED_SIGNATURE}: sent once more without thoughts and signatures`,
};

/** Rewrites a refused body without signatures (docs/protocols/replies.md#refused-signatures). */
function signatureRemoval(upstream: Format, { model }: RequestTarget): NonNullable<Outbound['withoutSignatures']> {
  return (failure, sent) => {
    if (!refusesSignature(failure)) return undefined;
    const body = viewOf(sent);
    const cleaning = upstream.withoutSignatures?.(body, { model });
    if (!cleaning) return undefined;
    const thinking = cleaning.losses.filter(({ param }) => param === 'thinking');
    return { body: body.edit(cleaning.edits).encode(), losses: [LOSS, ...thinking] };
  };
}
