import { describe, expect, it } from 'vitest';
import type { Conversation, Part } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { requestTarget } from '../contexts.testkit.ts';
import { AnswerLimit } from './answer-limit.ts';

const LIMITS = { output: 64_000, context: 200_000 };

const said = (...parts: Part[]): Conversation => ({
  model: 'm',
  stream: false,
  sampling: {},
  turns: [{ role: 'user', parts }],
});
const words = (bytes: number): Part => ({ type: 'text', text: 'a'.repeat(bytes) });

const limitOf = (conversation: Conversation, target: Partial<RequestTarget>) =>
  new AnswerLimit(conversation, requestTarget({ defaultMaxTokens: 'model', limits: LIMITS, ...target }));

describe('the answer limit of a request for Claude', () => {
  it('is the caller’s, whatever the model allows, and is then no default', () => {
    const limit = limitOf({ ...said(words(9)), maxTokens: 1_000_000 }, {});
    limit.makeRoomFor(2_000_000);
    expect([limit.tokens, limit.defaulted]).toEqual([1_000_000, []]);
  });

  it('is the output limit of the model where the caller names none', () => {
    const limit = limitOf(said(words(9)), {});
    expect(limit.tokens).toBe(64_000);
    expect(limit.defaulted).toEqual([{ param: 'max_tokens', value: 64_000, reason: 'the limit of the model' }]);
  });

  it('is the rest of the context window after a long input', () => {
    const { tokens } = limitOf(said(words(450_000)), {});
    expect(tokens).toBeGreaterThan(49_000);
    expect(tokens).toBeLessThanOrEqual(50_000);
  });

  it('stays usable when the estimated input fills the window, because the upstream decides', () => {
    expect(limitOf(said(words(5_000_000)), {}).tokens).toBe(4096);
  });

  it('counts an image by its kind and not by its bytes', () => {
    const image: Part = { type: 'media', media: 'image', source: { kind: 'data', data: 'A'.repeat(5_000_000) } };
    expect(limitOf(said(image), {}).tokens).toBe(64_000);
  });

  it('counts results of tools, their tools and schemas', () => {
    const result: Part = { type: 'tool_result', callId: 'c', content: [words(240_000)] };
    const parameters = { type: 'object', description: 'b'.repeat(210_000) };
    const { tokens } = limitOf({ ...said(result), tools: [{ type: 'function', name: 'f', parameters }] }, {});
    expect(tokens).toBeLessThan(51_000);
    expect(tokens).toBeGreaterThan(48_000);
  });

  it('is 4096 for an unknown model', () => {
    expect(limitOf(said(words(9)), { limits: undefined }).tokens).toBe(4096);
  });

  it.each([
    [8192, 8192],
    [100_000, 64_000],
  ])('with the setting %i is %i', (defaultMaxTokens, tokens) => {
    expect(limitOf(said(words(9)), { defaultMaxTokens }).tokens).toBe(tokens);
  });

  it('is missing with the setting refuse', () => {
    expect(() => limitOf(said(words(9)), { defaultMaxTokens: 'refuse' })).toThrow(RequestFault);
  });

  it.each([
    ['grows by the budget that does not fit', { defaultMaxTokens: 1000 }, 5000, 6000],
    ['stays above a budget that fits', {}, 32_768, 64_000],
    ['ends at the output limit of the model', { defaultMaxTokens: 1000 }, 70_000, 64_000],
    ['of an unknown model has no such end', { limits: undefined }, 32_768, 36_864],
  ])('by default %s', (_, target, budget, tokens) => {
    const limit = limitOf(said(words(9)), target);
    limit.makeRoomFor(budget);
    expect(limit.tokens).toBe(tokens);
  });
});
