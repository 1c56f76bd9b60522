import { expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';

/** USD per million tokens. */
const prices = {
  prices: [
    { model: 'dear', usd: { input: 8, output: 8 } },
    { model: 'cheap', tier: 'flex', usd: { input: 1, output: 1 } },
    { model: 'cheap', usd: { input: 2, output: 2 } },
  ],
};
const USAGE = { usage: { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 } };

it('A reply of another model and tier than was asked pays its own price, and the access line, the record and the metric say so', async () => {
  const replies = [{}, { model: 'cheap', service_tier: 'flex' }, { model: 'cheap' }, { model: 'dear' }];
  const pair = await startPair((_, res) => json(res, { ...openaiReply('ok', USAGE), ...replies.shift() }), {
    prices,
    gateway: { default: { provider: '@openai', reply_headers: ['cost'] } },
    server: { default_config: 'default', admin: { port: 0 }, telemetry: { log: { access: 'all' } } },
  });
  const { gateway } = pair;
  const ask = async (model: string): Promise<string | null> => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({
        model,
        max_tokens: 1000,
        service_tier: 'flex',
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    await reply.arrayBuffer();
    return reply.headers.get('x-gateway-cost-usd');
  };
  // The first reply names a model without a price, so that the price of the one that was asked counts.
  expect([await ask('cheap'), await ask('cheap'), await ask('cheap'), await ask('cheap')]).toEqual([
    '0.004',
    '0.002',
    '0.004',
    '0.016',
  ]);
  const lines = () => gateway.logs.filter(({ msg }) => msg === 'request completed');
  await until(() => lines().length === 4, 'the access lines are written');
  const marks = ['model_and_tier', undefined, 'tier', 'model_and_tier'];
  expect(lines().map(({ answered_by_other: what }) => what)).toEqual(marks);
  const listed = (await gateway.gateway.records({ limit: 10 })) as readonly { readonly request_id: string }[];
  const records = (await Promise.all(listed.map(({ request_id: id }) => gateway.gateway.record(id)))) as readonly {
    readonly attempts: readonly object[];
  }[];
  expect(records.map(({ attempts }) => attempts[0])).toMatchObject(
    marks.toReversed().map((what) => ({ cost_usd: expect.any(Number), ...(what && { answered_by_other: what }) })),
  );
  const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  const counted = metrics.split('\n').filter((line) => line.startsWith('gatehouse_answered_by_other_total{'));
  expect(counted.map((line) => line.replace(/request_model="[^"]*",?/, ''))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/what="model_and_tier".* 2$/),
      expect.stringMatching(/what="tier".* 1$/),
    ]),
  );
});
