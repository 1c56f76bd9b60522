import type { JsonObject } from '../conversation.ts';
import type { FinishReason } from '../events.ts';

const WORDS: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * wire.md D10. A forced function call ends with `stop` at OpenAI itself, and a client of another API takes that for a finished
 * answer: with calls it is `tool_calls`. Absent or unknown words read as `stop`, as that table does.
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
  /** The provider's own word. */
  readonly native: string | undefined;
  /** The call was told as the deprecated `function_call`. */
  readonly legacy: boolean;
}

/** Where the provider's own word is one of OpenAI's, it is the answer as it was given; any other stands beside. */
export function encodeFinish({ reason: mapped, native, legacy }: DecodedFinish, strict: boolean): JsonObject {
  if (native !== undefined && WORDS.has(native)) return { finish_reason: native };
  const reason = legacy && mapped === 'tool_calls' ? 'function_call' : mapped;
  return { finish_reason: reason, ...(!strict && native !== undefined && { native_finish_reason: native }) };
}
