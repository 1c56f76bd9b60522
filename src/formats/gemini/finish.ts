import type { FinishReason } from '../events.ts';

/** Finish reasons (docs/protocols/replies.md#finish-reasons). An unlisted one is `stop`: the model stopped. */
const REASONS: { readonly [native: string]: FinishReason } = {
  STOP: 'stop',
  FINISH_REASON_UNSPECIFIED: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  ESCALATION: 'content_filter',
  OTHER: 'stop',
  UNEXPECTED_TOOL_CALL: 'stop',
  TOO_MANY_TOOL_CALLS: 'stop',
  MISSING_THOUGHT_SIGNATURE: 'stop',
  NO_IMAGE: 'stop',
  IMAGE_OTHER: 'stop',
};

/** Calls end with STOP on this wire (measured: 286 of 288 recordings). Clients expect `tool_calls`. */
export function mapFinish(native: string | undefined, hasCalls: boolean): FinishReason {
  const reason = (native !== undefined && Object.hasOwn(REASONS, native) && REASONS[native]) || 'stop';
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

const NATIVE: { readonly [R in FinishReason]: string } = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

/** Returns Gemini's finish reason. A reply of Gemini keeps its own reason. */
export function nativeFinish(reason: FinishReason, native: string | undefined): string {
  return native !== undefined && Object.hasOwn(REASONS, native) ? native : NATIVE[reason];
}
