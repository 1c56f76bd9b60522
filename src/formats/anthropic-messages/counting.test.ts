import { describe, expect, it } from 'vitest';
import { ReplyFault } from '../faults.ts';
import { replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { counting } from './counting.ts';
import { anthropicMessages as format } from './index.ts';

describe('a count of tokens', () => {
  it('is read and written in Anthropic’s format', () => {
    expect(counting.decodeReply({ input_tokens: 14, context_management: { original_input_tokens: 20 } })).toBe(14);
    expect(counting.decodeReply(counting.encodeReply(0))).toBe(0);
  });

  it.each([{}, { input_tokens: '14' }, { input_tokens: null }, [], null, 'x'])('is not in %j', (reply) => {
    expect(() => counting.decodeReply(reply)).toThrow(ReplyFault);
  });

  it('names the model in the body on Vertex too, which has no place for it in the path', () => {
    const target = requestTarget({ model: 'claude-x', host: 'vertex', modelInBody: true });
    const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }];
    const conversation = { model: 'm', stream: false, turns, sampling: {}, maxTokens: 5 };
    const { body } = encodeWith(format, conversation, target, replyContext());
    expect(body).toMatchObject({ model: 'claude-x', anthropic_version: 'vertex-2023-10-16' });
    const { body: answer } = encodeWith(format, conversation, { ...target, modelInBody: undefined }, replyContext());
    expect(answer).not.toHaveProperty('model');
  });

  it.skipIf(!hasCorpus)('is read from every recorded reply, and nothing a client sent is left out', () => {
    const records = recorded('anthropic').filter(({ path }) => path === '/v1/messages/count_tokens');
    expect(records.length).toBeGreaterThan(3);
    for (const { response_body: reply, request_body: request } of records) {
      expect(counting.decodeReply(reply)).toBeGreaterThan(0);
      expect(counting.notTaken.filter((key) => Object.hasOwn(Object(request), key))).toEqual([]);
    }
  });
});
