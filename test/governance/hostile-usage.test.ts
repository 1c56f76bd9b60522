import { describe, it } from 'vitest';
import type { CounterState } from '../../src/core/ports/counters.ts';
import { startLedger, type LedgerGateway } from '../state/ledger.testkit.ts';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';

const HONEST = 'gatehouse-honest-key-0123456789';

/** What the store has counted of each budget, by key and unit. */
async function countersOf({ gateway }: LedgerGateway): Promise<Map<string, CounterState>> {
  const found = new Map<string, CounterState>();
  for await (const piece of gateway.state!.store!.counters.all()) for (const one of piece) found.set(one.node, one);
  return found;
}

async function spentOf(served: LedgerGateway, node: RegExp): Promise<number> {
  for (const [name, { spent }] of await countersOf(served)) if (node.test(name)) return spent;
  return 0;
}

/** `usage` of the replies to the first key; the other key's are ordinary. */
function served(usage: object): Promise<LedgerGateway> {
  const both = Promise.withResolvers<void>();
  let arrived = 0;
  return startLedger(
    async ({ json: body }, res) => {
      if (body['user'] !== 'absurd') return json(res, openaiReply('ok'));
      if ((arrived += 1) === 2) both.resolve();
      // Both are admitted before the first is settled.
      await both.promise;
      json(res, openaiReply('ok', { usage }));
    },
    {
      keys: {
        keys: [
          {
            id: 'absurd',
            key: `\${env:NONE:-${KEY}}`,
            budgets: ['1000000 tokens', '1000 USD'].map((cap) => ({ cap, period: 'month' })),
          },
          { id: 'honest', key: `\${env:NONE:-${HONEST}}`, budgets: [{ cap: '1000 USD', period: 'month' }] },
        ],
      },
    },
  );
}

const ask = ({ gateway }: LedgerGateway, key: string, user: string): Promise<Response> =>
  fetch(`${gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
    body: JSON.stringify({ model: '@openai/m', max_tokens: 10, user, messages: [{ role: 'user', content: 'hi' }] }),
  });

describe('counts of an upstream that no reply can have', () => {
  it.each([
    ['a fraction', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2.5 }],
    ['more than a safe integer', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1e30 }],
    ['an amount above all money', { prompt_tokens: 1e300, completion_tokens: 1e300, total_tokens: 2 }],
    ['a sum that is infinite', { prompt_tokens: 1e308, completion_tokens: 1e308 }],
  ])('leave the budgets of other keys counted: %s', async (_, usage) => {
    const gateway = await served(usage);
    await Promise.all([0, 1].map(async () => (await ask(gateway, KEY, 'absurd')).text()));
    await until(async () => (await gateway.rows(2)).length === 2, 'both have ended');
    // The first request of a budget may come before the store has answered: 503, as documented.
    await until(async () => (await ask(gateway, HONEST, 'honest')).status === 200, 'the other key is served');
    await until(async () => (await spentOf(gateway, /honest/)) > 0, 'the store has what the other key has spent');
    await until(async () => (await spentOf(gateway, /absurd/)) > 0, 'the store has what the first key has spent');
  });
});
