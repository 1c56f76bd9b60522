import type { GenerationEvent, Signals } from './events.ts';

/** Notes in `signals` what a batch of events shows. Used where a reply is decoded anyway, so nothing is parsed twice. */
export function observe(signals: Signals, events: readonly GenerationEvent[]): void {
  for (const event of events) {
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
        signals.finish = event.reason;
        signals.content = true;
        break;
      case 'error':
        signals.failure = event.failure;
        break;
      case 'end':
        signals.ended = true;
        break;
      default:
        if (isContent(event)) signals.content = true;
    }
    signals.progress += 1;
  }
}

function isContent(event: GenerationEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return event.text.length > 0;
    case 'tool_call':
    case 'signature':
    case 'redacted_thinking':
    case 'media':
    case 'code':
    case 'code_result':
    case 'opaque':
      return true;
    default:
      return false;
  }
}
