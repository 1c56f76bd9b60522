import { expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';

const retry = { attempts: 2, on_status_codes: [429], max_delay: '10s' };

/** An upstream that refuses once, and asks for so long a wait. */
async function ask(deadline: string, waitMs: number) {
  const { upstream, gateway } = await startPair(
    (_, res) => {
      if (upstream.seen.length > 1) return json(res, openaiReply('done'));
      json(res, { error: { message: 'Too many requests.' } }, 429, { 'retry-after-ms': String(waitMs) });
    },
    { gateway: { it: { provider: '@openai', deadline, retry } } },
  );
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const { error } = (await reply.json()) as { error?: { code: string } };
  return [reply.status, error?.code, reply.headers.get('retry-after-ms'), upstream.seen.length];
}

it('a wait that leaves no time for the answer is not begun: the refusal stands, with its wait', async () => {
  expect(await ask('2s', 1500)).toEqual([429, 'rate_limit_exceeded', '1500', 1]);
});

it('a wait that leaves time for the answer is begun', async () => {
  expect(await ask('4s', 1500)).toEqual([200, undefined, null, 2]);
});
