import type { FinishReason, GenerationEvent, Signals } from '../events.ts';

/** Updates `signals` from a batch of events. Used where a reply is decoded anyway, so nothing is parsed twice. */
export function observe(signals: Signals, events: readonly GenerationEvent[]): void {
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at]!;
    switch (event.type) {
      case 'ping':
        continue;
      case 'start':
        signals.model = event.model ?? signals.model;
        break;
      case 'usage':
        signals.usage = event.usage;
        break;
      case 'finish':
        noteFinish(signals, event.reason, event.native);
        signals.content = true;
        break;
      case 'error':
        signals.failure = event.failure;
        break;
      case 'end':
        signals.ended = true;
        break;
      default:
        signals.begun = true;
        signals.text += lengthOf(event);
        if (isAnswer(event) && !isExplanation(event, events[at + 1])) noteAnswer(signals, event.type !== 'thinking');
        else if (isContent(event)) signals.content = true;
    }
    signals.progress += 1;
  }
}

function lengthOf(event: GenerationEvent): number {
  switch (event.type) {
    case 'text':
      return event.literals ? event.literals.reduce((sum, { length }) => sum + length, 0) : event.text.length;
    case 'thinking':
    case 'refusal':
    case 'tool_arguments':
      return event.text.length;
    default:
      return 0;
  }
}

/** @param isOutput the part is more than a thought */
export function noteAnswer(signals: Signals, isOutput: boolean): void {
  signals.output ||= isOutput;
  signals.content = signals.answered = true;
  signals.blocked = false;
}

/** One of several choices may be stopped while another answers: nothing is blocked then. */
export function noteFinish(signals: Signals, reason: FinishReason, native: string | undefined): void {
  signals.finish = reason;
  signals.nativeFinish = native === reason ? undefined : native || undefined;
  if (reason === 'content_filter' && !signals.answered) signals.blocked = true;
}

/** The filter's own explanation (Anthropic's `stop_details.explanation`), emitted before the finish. */
function isExplanation(event: GenerationEvent, next: GenerationEvent | undefined): boolean {
  return event.type === 'refusal' && next?.type === 'finish' && next.message === event.text;
}

function isAnswer(event: GenerationEvent): boolean {
  switch (event.type) {
    case 'text':
      return event.literals !== undefined || event.text.length > 0;
    case 'thinking':
    case 'refusal':
      return event.text.length > 0;
    case 'tool_call':
    case 'media':
    case 'code':
    case 'code_result':
    case 'mcp_call':
    case 'mcp_result':
      return true;
    default:
      return false;
  }
}

function isContent(event: GenerationEvent): boolean {
  switch (event.type) {
    case 'refusal':
      return event.text.length > 0;
    case 'signature':
    case 'redacted_thinking':
    case 'opaque':
      return true;
    default:
      return false;
  }
}
