import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { hasCorpus, recorded, type RecordedExchange } from './corpus.testkit.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';
import { isObject, objectOf, listOf } from '../json/object.ts';

const requests = recorded('anthropic', 'vertex-anthropic').flatMap((record) =>
  isObject(record.request_body) && Array.isArray(record.request_body.messages) && record.op !== 'count_tokens'
    ? [{ record, body: record.request_body }]
    : [],
);

function targetOf(record: RecordedExchange) {
  const host = record.family === 'vertex-anthropic' ? ('vertex' as const) : ('direct' as const);
  return requestTarget({ model: record.model, host, strict: false });
}

/**
 * Different spellings of one request (docs/protocols/anthropic-messages.md#turns, docs/protocols/anthropic-messages.md#content-blocks):
 * strings and text blocks, neighbours of one role, nulls.
 */
function canonical(body: JsonObject): JsonObject {
  const { model: _, stream, output_format: format, system, messages, output_config: config, ...others } = body;
  const output = { ...objectOf(config), ...(isObject(format) && { format }) };
  return withoutNulls({
    ...others,
    ...(stream === true && { stream }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    system: system === undefined ? undefined : blocks(system),
    messages: merged(listOf(messages) ?? []),
  });
}

function merged(messages: readonly unknown[]): JsonObject[] {
  const out: { role: unknown; content: unknown[] }[] = [];
  for (const message of messages) {
    if (!isObject(message)) continue;
    const last = out.at(-1);
    if (last && last.role === message.role) last.content.push(...blocks(message.content));
    else out.push({ role: message.role, content: blocks(message.content) });
  }
  return out;
}

function blocks(content: unknown): unknown[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (listOf(content) ?? []).map((block) =>
    isObject(block) && block.type === 'tool_result' && block.content !== undefined
      ? { ...block, content: blocks(block.content) }
      : block,
  );
}

function withoutNulls(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => (inner === null ? undefined : inner))) as JsonObject;
}

describe.skipIf(!hasCorpus)('recorded requests', () => {
  it('are decoded and encoded to the same body, without a loss', () => {
    for (const { record, body } of requests) {
      const { body: again, losses } = encodeWith(
        { encodeRequest },
        deepFreeze(decodeRequest(deepFreeze(body))),
        targetOf(record),
        replyContext(),
      );
      expect({ id: record.id, body: canonical(again), losses }).toEqual({
        id: record.id,
        body: canonical(body),
        losses: [],
      });
    }
    expect(requests.length).toBeGreaterThan(380);
  });

  it('are the same conversation after encoding and decoding', () => {
    for (const { record, body } of requests) {
      const conversation = { ...decodeRequest(canonical(body)), model: record.model };
      const { body: again } = encodeWith({ encodeRequest }, conversation, targetOf(record), replyContext());
      expect({ id: record.id, ...decodeRequest({ ...again, model: record.model }) }).toEqual({
        id: record.id,
        ...conversation,
      });
    }
  });
});
