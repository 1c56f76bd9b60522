import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';

const TEXT_FIELDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const;

/**
 * True for non-empty text, thinking or refusal, a tool's name, or media. Until one of these arrives, the client has
 * received nothing, and another target can be tried.
 */
export function hasContent(delta: JsonObject): boolean {
  if (TEXT_FIELDS.some((field) => typeof delta[field] === 'string' && delta[field] !== '')) return true;
  if (
    isNonEmpty(delta.content) ||
    isNonEmpty(delta.content_blocks) ||
    isNonEmpty(delta.content_parts) ||
    isObject(delta.audio)
  )
    return true;
  if (isObject(delta.function_call) && delta.function_call.name) return true;
  const calls: readonly unknown[] = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  return calls.some((call) => {
    const body = isObject(call) ? (call.function ?? call.custom) : undefined;
    return isObject(body) && Boolean(body.name);
  });
}

function isNonEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
