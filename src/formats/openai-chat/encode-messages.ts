import type { Conversation, JsonObject, ToolResultPart, Turn } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import { compact } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeInput, joined, plainText, type MessageDestination } from './message-parts.ts';

export function encodeMessages(
  { turns, extrasFormat }: Conversation,
  target: RequestTarget,
  report: LossReport,
): JsonObject[] {
  const anyArguments = extrasFormat === 'openai-responses' && target.extensions?.size !== 0;
  let at = 0;
  return turns.flatMap((turn) => {
    const place: MessageDestination = { path: BodyPlace.item('messages', at), at, target, report, anyArguments };
    at += messagesOf(turn);
    switch (turn.role) {
      case 'system':
      case 'user':
        return encodeContent(turn, place);
      case 'assistant':
        return encodeAnswer(turn, place);
      case 'tool':
        return encodeResults(turn, place);
    }
  });
}

/** A single plain text is a string, which every server accepts. A turn of which nothing is sent makes no message. */
function encodeContent(turn: Turn, place: MessageDestination): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const [at, part] of turn.parts.entries()) {
    const encoded = encodeInput(part, BodyPlace.itemOf(place.path, 'content', at), turn.role, place);
    if (encoded) parts.push(encoded);
  }
  if (parts.length === 0 && turn.parts.length > 0) return [];
  return [compact({ role: turn.role, content: plainText(parts) ?? parts, name: turn.name })];
}

/**
 * Encodes one message per result. A tool message holds only text: media follow in a user message
 * (docs/protocols/messages-route.md#results), and a failed result begins with a prefix
 * (docs/protocols/messages-route.md#failed-results).
 */
function encodeResults(turn: Turn, place: MessageDestination): JsonObject[] {
  const attached: JsonObject[] = [];
  const messages = turn.parts.flatMap((part, at) => {
    const path = BodyPlace.item('messages', place.at + at);
    if (part.type !== 'tool_result') {
      place.report.dropped(path, `OpenAI chat has no ${part.type} part in a tool message.`);
      return [];
    }
    return [encodeResult(part, path, { place, attached })];
  });
  return attached.length > 0 ? [...messages, { role: 'user', content: attached }] : messages;
}

function encodeResult(
  result: ToolResultPart,
  path: BodyPlace,
  to: { place: MessageDestination; attached: JsonObject[] },
): JsonObject {
  const { report } = to.place;
  if (result.cache) report.dropped(BodyPlace.field(path, 'cache_control'), 'No cache markers on tool results.');
  const texts: JsonObject[] = [];
  for (const [at, part] of result.content.entries()) {
    const inner = BodyPlace.itemOf(path, 'content', at);
    const encoded = encodeInput(part, inner, 'tool', to.place);
    if (!encoded) continue;
    if (part.type !== 'media') texts.push(encoded);
    else {
      report.downgraded(inner, 'Media of a tool result is sent in a user message after it.');
      to.attached.push(encoded);
    }
  }
  if (result.isError) {
    report.downgraded(
      BodyPlace.field(path, 'is_error'),
      'OpenAI chat has no failed results: the text begins with "Error: ".',
    );
    const [first] = texts;
    const text = first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined;
    texts.splice(0, text === undefined ? 0 : 1, { type: 'text', text: `Error: ${text ?? ''}` });
  }
  return compact({
    role: 'tool',
    tool_call_id: result.callId,
    name: result.name,
    content: joined(texts, '\n') ?? plainText(texts) ?? texts,
  });
}
