import { PlainPassThrough } from '../formats/plain-pass-through.ts';
import type { TokenCounting } from '../formats/format.ts';
import { lossesOfReading } from '../formats/unread.ts';
import { GatewayError } from '../plugin/index.ts';
import type { Codec } from '../providers/codec.ts';
import { callId } from './ids.ts';
import { targetOf, type Job } from './translation-job.ts';

/** Counting needs no limit, but a format may demand one to write a request: larger than any thinking budget. */
const ANY_MAX_TOKENS = 1_000_000;

/** How the tokens of a request are counted at a target: by the two formats, as a generation is translated. */
export function countingCodec(job: Job): Codec {
  const { operation, upstream } = job;
  const [asked, answered] = [upstream.counting, operation.format.counting];
  if (!asked || !answered)
    throw new GatewayError('internal_error', `${upstream.name} counts no tokens, and its provider did not say so.`);
  return upstream === operation.format ? passThrough(job, asked) : translate(job, asked, answered);
}

function passThrough(job: Job, { decodeReply }: TokenCounting): Codec {
  return {
    mode: 'pass-through',
    edits: (body) => job.upstream.passThroughEdits(body, targetOf(job)),
    openReader: (model) =>
      new PlainPassThrough((body) => {
        decodeReply(body);
        return [{ type: 'end' }];
      }, model),
  };
}

function translate(job: Job, asked: TokenCounting, answered: TokenCounting): Codec {
  return {
    mode: 'translate',
    encode(body) {
      const conversation = job.operation.format.decodeRequest(body);
      const counted = { ...conversation, maxTokens: conversation.maxTokens ?? ANY_MAX_TOKENS };
      const reply = { model: job.resolved.model, newCallId: callId };
      const encoded = job.upstream.encodeRequest(counted, targetOf(job), reply);
      return {
        calls: [asked.encodeRequest(encoded.body)],
        parallel: 1,
        losses: [...encoded.losses, ...lossesOfReading(conversation)],
        decode: ([counts]) => ({ ok: true, body: answered.encodeReply(asked.decodeReply(counts)) }),
      };
    },
  };
}
