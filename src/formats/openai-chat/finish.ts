import type { JsonObject } from '../conversation.ts';
import type { FinishReason } from '../events.ts';

const WORDS: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * OpenAI itself ends a forced function call with `stop`, which a client of another API reads as a finished answer, so
 * with calls the reason is `tool_calls`. A missing or unknown word is `stop`
 * (docs/protocols/replies.md#missing-finish-reason).
 */
export function mapFinish(word: string | undefined, calls: boolean): FinishReason {
  switch (word) {
    case 'length':
    case 'content_filter':
    case 'tool_calls':
      return word;
    case 'function_call':
      return 'tool_calls';
    default:
      return calls ? 'tool_calls' : 'stop';
  }
}

interface DecodedFinish {
  readonly reason: FinishReason;
  /** The provider's own finish reason. */
  readonly native: string | undefined;
  /** The call was sent as the deprecated `function_call`. */
  readonly legacy: boolean;
}

/**
 * A native reason that OpenAI defines becomes `finish_reason` unchanged. Any other goes into `native_finish_reason`.
 */
export function encodeFinish({ reason: mapped, native, legacy }: DecodedFinish, strict: boolean): JsonObject {
  if (native !== undefined && WORDS.has(native)) return { finish_reason: native };
  const reason = legacy && mapped === 'tool_calls' ? 'function_call' : mapped;
  return { finish_reason: reason, ...(!strict && native !== undefined && { native_finish_reason: native }) };
}
