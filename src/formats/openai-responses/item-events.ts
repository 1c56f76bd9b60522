import type { JsonObject } from '../conversation.ts';
import type { FinishReason, GenerationEvent, LogprobToken } from '../events.ts';
import { compact, isObject, objectOf, listOf, numberOf, stringOf } from '../json/object.ts';
import { mcpParts } from './mcp-items.ts';

/**
 * An item of a tool that the provider ran → events.
 * @param at number of the item in the response
 */
export function hostedEvents(item: JsonObject, at: number, block: number): readonly GenerationEvent[] {
  const place = { choice: 0, block };
  const code = stringOf(item.code);
  const result = stringOf(item.result);
  if (item.type === 'code_interpreter_call' && code !== undefined) {
    const id = stringOf(item.container_id);
    const run: GenerationEvent = { type: 'code', ...place, language: 'PYTHON', code, ...(id && { id }) };
    // OpenAI leaves outputs out unless a request includes them, and `encode-reply.ts` writes an empty list where none came.
    const outputs = listOf(item.outputs) ?? [];
    if (outputs.length === 0) return [run];
    const output = outputs.map((one) => stringOf(objectOf(one)?.logs) ?? '').join('');
    return [run, { type: 'code_result', ...place, outcome: 'OUTCOME_OK', output }];
  }
  if (item.type === 'image_generation_call' && result)
    return [{ type: 'media', ...place, mime: `image/${stringOf(item.output_format) ?? 'png'}`, data: result }];
  if (item.type === 'mcp_call') return (mcpParts(item, `mcp_${at}`) ?? []).map((part) => ({ ...part, ...place }));
  return [{ type: 'opaque', ...place, format: 'openai-responses', value: item }];
}

/** @param calls of the client's tools */
export function finishReason({ status, incomplete_details: details }: JsonObject, calls: number): FinishReason {
  if (status !== 'incomplete') return calls > 0 ? 'tool_calls' : 'stop';
  return stringOf(objectOf(details)?.reason) === 'content_filter' ? 'content_filter' : 'length';
}

export function decodeToken(token: JsonObject): LogprobToken {
  const top = listOf(token.top_logprobs)?.flatMap((other) => (isObject(other) ? [decodeToken(other)] : []));
  const bytes = listOf(token.bytes)?.filter((byte): byte is number => typeof byte === 'number');
  return compact({
    token: stringOf(token.token) ?? '',
    logprob: numberOf(token.logprob) ?? 0,
    bytes,
    top: top && top.length > 0 ? top : undefined,
  });
}
