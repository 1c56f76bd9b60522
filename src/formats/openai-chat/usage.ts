import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Decodes OpenAI's usage (docs/protocols/openai-chat.md#reply-usage). Returns undefined when it has no counts. */
export function decodeUsage(raw: JsonObject): Usage | undefined {
  const input = count(raw.prompt_tokens);
  const output = count(raw.completion_tokens);
  if (input === undefined && output === undefined) return undefined;
  const prompt = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {};
  const completion = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {};
  return compact({
    input: input ?? 0,
    output: output ?? 0,
    total: count(raw.total_tokens) ?? (input ?? 0) + (output ?? 0),
    cacheRead: count(prompt.cached_tokens),
    cacheWrite: count(prompt.cache_write_tokens),
    reasoning: count(completion.reasoning_tokens),
    inputAudio: count(prompt.audio_tokens),
    outputAudio: count(completion.audio_tokens),
    acceptedPrediction: count(completion.accepted_prediction_tokens),
    rejectedPrediction: count(completion.rejected_prediction_tokens),
  });
}

export function usageEvent(raw: unknown): GenerationEvent | undefined {
  const usage = isObject(raw) ? decodeUsage(raw) : undefined;
  return usage && isObject(raw) ? { type: 'usage', usage, raw } : undefined;
}

/**
 * Encodes OpenAI's usage (docs/protocols/openai-chat.md#reply-usage, docs/protocols/replies.md#usage). The two details
 * that cost dashboards read are always present, as OpenAI sends them; the others are present when the provider counts
 * them.
 */
export function encodeUsage(usage: Usage, strict: boolean): JsonObject {
  const { cacheRead, cacheWrite } = usage;
  return compact({
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_tokens_details: compact({
      cached_tokens: cacheRead ?? 0,
      cache_write_tokens: cacheWrite,
      audio_tokens: usage.inputAudio,
    }),
    completion_tokens_details: compact({
      reasoning_tokens: usage.reasoning ?? 0,
      audio_tokens: usage.outputAudio,
      accepted_prediction_tokens: usage.acceptedPrediction,
      rejected_prediction_tokens: usage.rejectedPrediction,
    }),
    cache_read_input_tokens: strict ? undefined : cacheRead,
    cache_creation_input_tokens: strict ? undefined : cacheWrite,
  });
}
