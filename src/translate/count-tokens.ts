import type { JsonObject } from '../formats/conversation.ts';
import type { BodyEdit, TokenCounting } from '../formats/format.ts';
import { PlainPassThrough } from '../formats/streams/plain-pass-through.ts';
import { translateRequest } from '../formats/translate.ts';
import { GatewayError } from '../plugin/index.ts';
import type { EncodedTask, PassThroughCodec } from '../providers/codec.ts';
import type { Steps } from '../formats/steps.ts';
import { callId } from '../plugin/ids.ts';
import { targetOf, type Job } from './translation-job.ts';

/** A count that is translated between two formats. It takes as many steps as a generation: the body may be as large. */
export interface SteppingCodec {
  readonly mode: 'translate';
  encodeInSteps(body: JsonObject): Steps<EncodedTask>;
}

/** Creates the codec that counts a request's tokens at a target, from the two formats, as a generation is translated. */
export function countingCodec(job: Job): PassThroughCodec | SteppingCodec {
  const { operation, upstream } = job;
  const [upstreamSide, clientSide] = [upstream.counting, operation.format.counting];
  if (!upstreamSide || !clientSide)
    throw new GatewayError(
      'internal_error',
      `${upstream.name} counts no tokens, but its provider declares that it does.`,
    );
  return upstream === operation.format ? passThrough(job, upstreamSide) : translate(job, upstreamSide, clientSide);
}

function passThrough(job: Job, { notTaken, decodeReply }: TokenCounting): PassThroughCodec {
  return {
    mode: 'pass-through',
    edits(body) {
      // A config's parameters apply to all operations, and an upstream refuses fields that a count does not take.
      const without = notTaken
        .filter((key) => body.has(key))
        .map((key): BodyEdit => ({ path: [key], value: undefined, source: 'gateway' }));
      return [...job.upstream.passThroughEdits(body, targetOf(job)), ...without];
    },
    openReader: (model) =>
      new PlainPassThrough((body) => {
        decodeReply(body);
        return [{ type: 'end' }];
      }, model),
  };
}

function translate(job: Job, upstreamSide: TokenCounting, clientSide: TokenCounting): SteppingCodec {
  return {
    mode: 'translate',
    *encodeInSteps(body) {
      const encoded = yield* translateRequest(body, {
        client: job.operation.format,
        upstream: job.upstream,
        target: targetOf(job),
        reply: { model: job.resolved.model, newCallId: callId },
        change(conversation) {
          const maxTokens = conversation.maxTokens ?? upstreamSide.demandedMaxTokens;
          return { ...conversation, stream: false, ...(maxTokens !== undefined && { maxTokens }) };
        },
      });
      return {
        calls: [without(encoded.body, upstreamSide.notTaken)],
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
