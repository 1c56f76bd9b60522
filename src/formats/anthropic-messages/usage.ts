import type { JsonObject } from '../conversation.ts';
import type { Usage } from '../events.ts';
import { numberOf, objectOf } from './json.ts';

/**
 * Anthropic's `input_tokens` leaves cached tokens out; neutral input holds all of the prompt (wire.md D11). Undefined where
 * the object has no count at all, so that "not reported" is never read as zero.
 */
export function toUsage(raw: JsonObject): Usage | undefined {
  const fresh = numberOf(raw.input_tokens);
  const output = numberOf(raw.output_tokens);
  if (fresh === undefined && output === undefined) return undefined;
  const cacheRead = numberOf(raw.cache_read_input_tokens);
  const cacheWrite = numberOf(raw.cache_creation_input_tokens);
  const reasoning = numberOf(objectOf(raw.output_tokens_details)?.thinking_tokens);
  const input = (fresh ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    input,
    output: output ?? 0,
    total: input + (output ?? 0),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/**
 * `message_delta` counts are totals, and where they are not null they replace those of `message_start` (measured: 13 of 193
 * recorded streams change them, all with server tools).
 */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

/** Every key of B5, null where unknown: typed SDKs read them. */
export function fromUsage(usage: Usage | undefined): JsonObject {
  const cacheRead = usage?.cacheRead ?? 0;
  const cacheWrite = usage?.cacheWrite ?? 0;
  return {
    input_tokens: Math.max(0, (usage?.input ?? 0) - cacheRead - cacheWrite),
    output_tokens: usage?.output ?? 0,
    cache_creation_input_tokens: usage?.cacheWrite ?? null,
    cache_read_input_tokens: usage?.cacheRead ?? null,
    cache_creation: null,
    output_tokens_details: usage?.reasoning === undefined ? null : { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/** The same as `message_delta` carries it (B6): counts only. */
export function fromUsageDelta(usage: Usage | undefined): JsonObject {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, ...others } =
    fromUsage(usage);
  const { output_tokens_details, server_tool_use } = others;
  return {
    input_tokens,
    output_tokens,
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens_details,
    server_tool_use,
  };
}
