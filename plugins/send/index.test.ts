import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../src/plugin/index.ts';
import { createAttempt, createExchange, createReply, createSource, runPlugin } from '../../src/plugin/testing/index.ts';
import send from './index.ts';

describe('send', () => {
  it('sends this attempt once and sets its reply before it calls next', async () => {
    const exchange = createExchange();
    const attempt = createAttempt(exchange);
    const reply = createReply(createSource());
    const sent: unknown[] = [];
    await runPlugin(send, {
      exchange,
      attempt,
      needs: { send: { send: async (...given) => (sent.push(given), reply) } },
      next: () => expect(attempt.reply).toBe(reply),
    });
    expect(sent).toEqual([[exchange, attempt]]);
    expect(attempt.reply).toBe(reply);
    expect(exchange.reply).toBeUndefined();
  });

  it('sets no reply when sending fails', async () => {
    const exchange = createExchange();
    const attempt = createAttempt(exchange);
    const failure = new UpstreamError('overloaded', 'busy');
    await expect(
      runPlugin(send, { exchange, attempt, needs: { send: { send: () => Promise.reject(failure) } } }),
    ).rejects.toBe(failure);
    expect(attempt.reply).toBeUndefined();
  });

  it('cancels the reply of an earlier try that it replaces', async () => {
    const exchange = createExchange();
    const source = createSource();
    const attempt = createAttempt(exchange, { reply: createReply(source) });
    await runPlugin(send, { exchange, attempt, needs: { send: { send: async () => createReply('{}') } } });
    expect(source.calls).toEqual(['cancel']);
  });
});
