import { describe, expect, it } from 'vitest';
import { startPair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';

/** 32 hex digits: an id of a request and of a trace by its form. */
const HEX_KEY = '0123456789abcdef0123456789abcdef';

async function start() {
  const target = { provider: '@openai', override_params: { model: 'gpt-4o' } };
  const keys = { keys: [{ id: 'team', key: `\${env:TEST_KEY:-${HEX_KEY}}` }] };
  const { gateway } = await startPair((_, res) => json(res, openaiReply('Hello')), {
    gateway: { it: target },
    keys,
  });
  const ask = async (headers: Record<string, string>) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-config': 'it', ...headers },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    const [id, trace] = ['request-id', 'trace-id'].map((name) => response.headers.get(`x-gateway-${name}`));
    return { id, trace, headers: JSON.stringify([...response.headers]) };
  };
  return { gateway, ask };
}

describe('the id that a caller gives', () => {
  it('is the request’s, and the trace’s', async () => {
    const { ask } = await start();
    const own = { 'x-request-id': 'order-4711', 'x-gateway-trace-id': 'fedcba9876543210fedcba9876543210' };
    expect(await ask({ 'x-api-key': HEX_KEY, ...own })).toMatchObject({
      id: 'order-4711',
      trace: own['x-gateway-trace-id'],
    });
    // A part of a key is no key.
    expect((await ask({ 'x-api-key': HEX_KEY, 'x-request-id': '0123' })).id).toBe('0123');
  });

  it.each([
    ['x-gateway-api-key', HEX_KEY],
    ['x-api-key', HEX_KEY],
    ['authorization', `Bearer ${HEX_KEY}`],
    ['authorization', HEX_KEY],
  ])('is not taken where it is the key that it sends in %s: %s', async (name, value) => {
    const { ask, gateway } = await start();
    const reported = await ask({ [name]: value, 'x-request-id': HEX_KEY, 'x-gateway-trace-id': HEX_KEY });
    expect(reported.id).toMatch(/^[0-9a-f]{8}-/);
    expect(reported.trace).toMatch(/^[0-9a-f]{32}$/);
    for (const text of [reported.headers, gateway.logText()]) expect(text).not.toContain(HEX_KEY);
  });
});
