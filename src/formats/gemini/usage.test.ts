import { describe, expect, it } from 'vitest';
import { ReplyFault } from '../faults.ts';
import { counting } from './usage.ts';

describe('a count of tokens', () => {
  it.each<[string, unknown, number]>([
    ['as Vertex AI writes it', { totalTokens: 13, totalBillableCharacters: 47, promptTokensDetails: [] }, 13],
    ['as ProtoJSON may write a number', { totalTokens: '13' }, 13],
    ['of nothing, which ProtoJSON leaves out', {}, 0],
    ['of nothing, with what else there is', { promptTokensDetails: [] }, 0],
  ])('is read %s', (_, reply, tokens) => {
    expect(counting.decodeReply(reply)).toBe(tokens);
  });

  it.each([{ totalTokens: 'many' }, { totalTokens: null }, { error: {} }, { input_tokens: 3 }, [], null, 3])(
    'is not in %j',
    (reply) => {
      expect(() => counting.decodeReply(reply)).toThrow(ReplyFault);
    },
  );

  it('is written in Vertex AI’s form', () => {
    expect(counting.encodeReply(17)).toEqual({ totalTokens: 17 });
    expect(counting.decodeReply(counting.encodeReply(0))).toBe(0);
  });

  it('keeps what belongs to the prompt', () => {
    for (const key of ['contents', 'systemInstruction', 'tools', 'generationConfig', 'cachedContent'])
      expect(counting.notTaken).not.toContain(key);
  });
});
