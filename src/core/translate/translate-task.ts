import type { JsonObject } from '../../formats/conversation.ts';
import { createSignals, type Signals } from '../../formats/events.ts';
import { ReplyFault, RequestFault } from '../../formats/faults.ts';
import type { PassThrough, PassThroughSupport, TokenCounting } from '../../formats/format.ts';
import type { BodyEdit } from '../../formats/body-view.ts';
import type { RequestTarget } from '../../formats/request-target.ts';
import { writeJson } from '../../formats/json/text.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { textOf } from '../../formats/sse/stream-start.ts';
import { addPiece } from '../../formats/json/piece-list.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Batch, Outbound, Prepared, Steps } from '../kernel/index.ts';
import type { Codec, EncodedTask, PassThroughCodec, TaskReply } from '../providers/codec.ts';
import { keptBody, placeOf, wholeBody, targetOf, type TranslationJob } from './translation-job.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import { translateRequest } from '../../formats/translate.ts';
import { callId } from '../kernel/ids.ts';

/** Prepares a request with a codec: embeddings, images, token counts. Throws RequestFault. */
export function* prepareTask(job: TranslationJob, codec: Codec | SteppingCodec): Steps<Prepared> {
  if (codec.mode === 'pass-through') return passThrough(job, codec);
  const { exchange, resolved, client } = job;
  const { labels, boundLabels } = exchange;
  const context = { model: resolved.model, created: client.created, strict: client.strict, labels, boundLabels };
  const body = yield* wholeBody(job);
  const encoded = 'encodeInSteps' in codec ? yield* codec.encodeInSteps(body) : codec.encode(body, context);
  yield;
  return translate(job, encoded);
}

function passThrough(job: TranslationJob, codec: PassThroughCodec): Prepared {
  const { resolved, upstream } = job;
  const source = keptBody(job);
  // Counts and embeddings never stream, whatever the body or the config contains.
  const stream = codec.streams?.(source) ?? false;
  const cleaning = codec.clean?.(source, resolved.extensions);
  const cleaned = cleaning ? source.edit(cleaning.edits) : source;
  // The edits of a count move fields, which have to be clean.
  const usage = stream && resolved.streamUsage !== false ? codec.usageRequest?.(source) : undefined;
  const body = cleaned.edit([...codec.edits(cleaned, resolved.model), ...(usage ? [usage] : [])]);
  const form = job.exchange.request.form?.bodyFor(body);
  const place = placeOf(job, undefined);
  const encoding = body.has('encoding_format') ? body.value('encoding_format') : undefined;
  const replyForm = { hidesUsage: usage !== undefined, encoding };
  return {
    losses: cleaning?.losses ?? [],
    outbound: {
      ...place,
      ...(form && { headers: { ...place.headers, 'content-type': 'multipart/form-data' } }),
      body: body.encode(),
      ...(form && { form }),
      stream,
      contentType: undefined,
      openReader: ({ headers }) => codec.openReader(resolved.model, stream, headers['content-type'], replyForm),
      decodeError: upstream.decodeError,
    },
  };
}

function translate(job: TranslationJob, encoded: EncodedTask): Prepared {
  const bodies = encoded.calls.map((call) => writeJson(call));
  const [body] = bodies;
  if (body === undefined) throw new RequestFault('invalid_request', 'The body has no input.');
  const outbound: Outbound = {
    ...placeOf(job, encoded.headers),
    body,
    stream: false,
    contentType: encoded.stream ? 'text/event-stream' : 'application/json',
    openReader: () => new TaskReader((reply) => encoded.decode([parse(reply)]), encoded.stream),
    decodeError: job.upstream.decodeError,
    ...(bodies.length > 1 && { batch: createBatch(bodies, encoded) }),
  };
  return { losses: encoded.losses, outbound };
}

function createBatch(bodies: readonly string[], { parallel, check, decode, stream }: EncodedTask): Batch {
  const replies = new Map<number, unknown>();
  return {
    bodies,
    parallel,
    replies,
    bytesRead: 0,
    read(bytes, call) {
      const reply = parse(bytes);
      check?.(reply, call);
      return reply;
    },
    join() {
      const reader = new TaskReader(() => decode(bodies.map((_, call) => replies.get(call))), stream);
      return { body: reader.end(), signals: reader.signals };
    },
  };
}

/** Reads a whole plain reply, whose size the upstream module limits, and encodes it in the client's format. */
class TaskReader implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #decode: (reply: Buffer) => TaskReply;
  readonly #write: (body: JsonObject) => string;
  readonly #pieces: Buffer[] = [];

  constructor(decode: (reply: Buffer) => TaskReply, write: EncodedTask['stream'] = JSON.stringify) {
    this.#decode = decode;
    this.#write = write;
  }

  push(bytes: Buffer): undefined {
    addPiece(this.#pieces, bytes);
    this.signals.progress += 1;
  }

  end(): Buffer | undefined {
    const reply = this.#decode(Buffer.concat(this.#pieces));
    if (!reply.ok) {
      this.signals.failure = reply.failure;
      return undefined;
    }
    this.signals.usage = reply.usage;
    this.signals.model = reply.model;
    this.signals.content = true;
    this.signals.ended = true;
    return Buffer.from(this.#write(reply.body));
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return parseReplyText(textOf(bytes));
  } catch (error) {
    throw new ReplyFault('the reply is not valid JSON', { cause: error });
  }
}

/** Nothing is paid for a count, so it has no labels. */
const countTarget = (job: TranslationJob): RequestTarget => ({ ...targetOf(job), labels: {} });

/** A count that is translated between two formats. It takes as many steps as a generation: the body may be as large. */
interface SteppingCodec {
  readonly mode: 'translate';
  encodeInSteps(body: JsonObject): Steps<EncodedTask>;
}

/** Creates the codec that counts a request's tokens at a target, from the two formats, as a generation is translated. */
export function countingCodec(job: TranslationJob): PassThroughCodec | SteppingCodec {
  const { operation, upstream } = job;
  const [upstreamSide, clientSide] = [upstream.counting, operation.format.counting];
  if (!upstreamSide || !clientSide)
    throw new GatewayError(
      'internal_error',
      `${upstream.name} counts no tokens, but its provider declares that it does.`,
    );
  return upstream.passThrough && upstream.name === operation.format.name
    ? passThroughCount(job, upstreamSide, upstream.passThrough)
    : translatedCount(job, upstreamSide, clientSide);
}

function passThroughCount(job: TranslationJob, counting: TokenCounting, support: PassThroughSupport): PassThroughCodec {
  const { notTaken, decodeReply, edits } = counting;
  return {
    mode: 'pass-through',
    // A vendor refuses the signatures of another in a count too.
    clean: () => support.clean(keptBody(job), countTarget(job)),
    edits(body) {
      // A config's parameters apply to all operations, and an upstream refuses fields that a count does not take.
      const without = notTaken
        .filter((key) => body.has(key))
        .map((key): BodyEdit => ({ path: [key], value: undefined, source: 'gateway' }));
      const target = targetOf(job);
      return [...support.edits(body, target), ...without, ...edits(body, target)];
    },
    openReader: (model) =>
      new PlainPassThrough((body) => {
        decodeReply(body);
        return [{ type: 'end' }];
      }, model),
  };
}

function translatedCount(job: TranslationJob, upstreamSide: TokenCounting, clientSide: TokenCounting): SteppingCodec {
  return {
    mode: 'translate',
    *encodeInSteps(body) {
      const { configParams: params } = job;
      const translated = yield* translateRequest(body, {
        client: params ? params.named(job.operation.format) : job.operation.format,
        upstream: job.upstream,
        target: countTarget(job),
        reply: { model: job.resolved.model, newCallId: callId },
        alsoNamed: params?.fields,
        change(read) {
          const conversation = params ? params.merge(read) : read;
          const maxTokens = conversation.maxTokens ?? upstreamSide.demandedMaxTokens;
          return { ...conversation, stream: false, ...(maxTokens !== undefined && { maxTokens }) };
        },
      });
      const encoded = params ? params.complete(translated, job.upstream, targetOf(job)) : translated;
      return {
        calls: [upstreamSide.write(without(encoded.body, upstreamSide.notTaken), targetOf(job))],
        ...(encoded.headers && { headers: encoded.headers }),
        parallel: 1,
        losses: encoded.losses,
        decode: ([counts]) => ({ ok: true, body: clientSide.encodeReply(upstreamSide.decodeReply(counts)) }),
      };
    },
  };
}

const without = (body: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)));
