import type { FinishReason } from '../events.ts';

/** Stop reasons (docs/protocols/replies.md#finish-reasons). `compaction` is beta. */
const TO_NEUTRAL: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['compaction', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

const FROM_NEUTRAL: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

export interface CallsSeen {
  /** Calls that the client must answer. */
  readonly calls: number;
  /**
   * Uses of the forced tool that stands for a JSON answer: their `tool_use` means an ordinary stop
   * (docs/protocols/requests.md#the-json-tool).
   */
  readonly jsonAnswers: number;
}

/** An unknown or missing stop reason still means `tool_calls` when the reply has calls. */
export function toFinish(stopReason: string | undefined, seen: CallsSeen): FinishReason {
  if (stopReason === 'tool_use' && seen.calls === 0 && seen.jsonAnswers > 0) return 'stop';
  const known = stopReason === undefined ? undefined : TO_NEUTRAL.get(stopReason);
  return known ?? (seen.calls > 0 ? 'tool_calls' : 'stop');
}

/**
 * The provider's own stop reason, if it is one of Anthropic's, so that `pause_turn` or `stop_sequence` come out
 * unchanged.
 */
export function fromFinish(reason: FinishReason | undefined, native: string | undefined): string {
  if (native !== undefined && TO_NEUTRAL.get(native) === reason) return native;
  return FROM_NEUTRAL[reason ?? 'stop'];
}
