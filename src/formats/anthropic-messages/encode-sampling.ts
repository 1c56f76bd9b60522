import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../format.ts';
import type { RequestContext } from './request-context.ts';

/**
 * `thinking`: whether thinking is on, which fixes the sampling of every generation
 * (docs/protocols/anthropic-messages.md#sampling).
 */
export function encodeSampling(context: RequestContext, thinking: boolean): JsonObject {
  refuseSeveral(context);
  const { sampling } = context.conversation;
  const temperature = encodeTemperature(context, thinking);
  const topP = encodeTopP(context, thinking, temperature !== undefined);
  const topK = encodeTopK(context, thinking);
  const stop = encodeStop(context);
  dropUnknown(context);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(stop && sampling.stop && { stop_sequences: stop }),
  };
}

function refuseSeveral({ conversation }: RequestContext): void {
  const { n } = conversation.sampling;
  if (n !== undefined && n !== 1) {
    throw new RequestFault('unsupported_parameter', 'Claude gives one answer per request: `n` must be 1.', 'n');
  }
}

/** Reason why only the default can be sent; undefined when any value can be sent. */
function fixed({ facts }: RequestContext, thinking: boolean): string | undefined {
  if (facts.fixedSampling) return 'this model accepts only the default';
  return thinking ? 'Claude accepts only the default while it thinks' : undefined;
}

function encodeTemperature(context: RequestContext, thinking: boolean): number | undefined {
  const { temperature } = context.conversation.sampling;
  if (temperature === undefined) return undefined;
  const value = Math.min(1, Math.max(0, temperature));
  const reason = fixed(context, thinking);
  // 1 is the default, which is never refused.
  if (reason !== undefined && value !== 1) {
    context.losses.dropped('temperature', reason);
    return undefined;
  }
  if (value !== temperature) context.losses.clamped('temperature', `Claude’s range is 0 to 1: ${value} was sent`);
  return value;
}

function encodeTopP(context: RequestContext, thinking: boolean, withTemperature: boolean): number | undefined {
  const { topP } = context.conversation.sampling;
  if (topP === undefined) return undefined;
  const reason =
    (topP < 0.99 ? fixed(context, thinking) : undefined) ??
    (withTemperature && !context.facts.temperatureWithTopP
      ? 'this model takes temperature or top_p, not both'
      : undefined);
  if (reason === undefined) return topP;
  context.losses.dropped('top_p', reason);
  return undefined;
}

function encodeTopK(context: RequestContext, thinking: boolean): number | undefined {
  const { topK } = context.conversation.sampling;
  if (topK === undefined) return undefined;
  const reason = fixed(context, thinking);
  if (reason === undefined) return topK;
  context.losses.dropped('top_k', reason);
  return undefined;
}

function encodeStop({ conversation, losses }: RequestContext): readonly string[] | undefined {
  const { stop } = conversation.sampling;
  if (!stop) return undefined;
  const kept = stop.filter((sequence) => sequence.trim() !== '');
  if (kept.length < stop.length) losses.dropped('stop', 'Claude refuses stop sequences of white space');
  return kept.length > 0 ? kept : undefined;
}

function dropUnknown({ conversation, losses }: RequestContext): void {
  const { frequencyPenalty, presencePenalty, seed, logprobs, topLogprobs } = conversation.sampling;
  const unknown: readonly (readonly [string, unknown])[] = [
    ['frequency_penalty', frequencyPenalty],
    ['presence_penalty', presencePenalty],
    ['seed', seed],
    // `logprobs: false` is what Claude does anyway, and no loss.
    ['logprobs', logprobs || undefined],
    ['top_logprobs', topLogprobs],
  ];
  for (const [param, value] of unknown) if (value !== undefined) losses.dropped(param, 'Claude has no such setting');
}
