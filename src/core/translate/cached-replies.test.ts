import { describe, expect, it } from 'vitest';
import { resolvedTarget } from '../../../plugins/cache/bench.testkit.ts';
import { operations } from '../operations/index.ts';
import type { CachedReply } from '../kernel/index.ts';
import { createAttempt, createExchange, createFakeClock } from '../../plugin/testing/index.ts';
import { MemoryReplyStores } from '../memory/reply-cache.ts';
import { createReplyCache } from './cached-replies.ts';

const LIMITS = { maxBytes: 10_000, maxEntryBytes: 1000 };
const [chat] = operations;

const plain = (parts: Partial<CachedReply> = {}): CachedReply => ({
  status: 200,
  bytes: Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-kept',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    }),
  ),
  stream: false,
  includeUsage: false,
  usage: undefined,
  contentType: 'application/json; charset=utf-8',
  losses: [],
  storedAt: 0,
  ...parts,
});

describe('a cached reply', () => {
  const clock = createFakeClock();
  const cache = createReplyCache(new MemoryReplyStores({ clock }).prepare(LIMITS), clock);
  const render = (kept: CachedReply, json: Readonly<Record<string, unknown>> = {}) => {
    const exchange = createExchange({ operation: chat, json });
    return cache.render(kept, exchange, createAttempt(exchange, { resolved: resolvedTarget('m') }));
  };

  it('leaves byte for byte if it was stored in the requested form', () => {
    const kept = plain();
    expect(render(kept)).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: kept.bytes,
      stream: false,
    });
    const stream = plain({ stream: true, contentType: 'text/event-stream' });
    expect(render(stream, { stream: true })?.body).toBe(stream.bytes);
  });

  it('keeps its id and its creation time in the other form', () => {
    const body = render(plain(), { stream: true })?.body.toString();
    expect(body).toContain('"id":"chatcmpl-kept"');
    expect(body).toContain('"created":1');
  });

  it.each([
    ['not JSON', 'oops', true],
    ['not a completion', '{"error":{"message":"x"}}', true],
  ])('is not converted to the other form if it is %s', (_, text, stream) => {
    expect(render(plain({ bytes: Buffer.from(text) }), { stream })).toBeUndefined();
  });
});
