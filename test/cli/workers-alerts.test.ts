import { afterEach, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { Fleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

it('The primary sends each alert of its workers once', { timeout: 120_000 }, async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
  const upstream = await startUpstream((_, res) => json(res, openaiReply('Hello.', { usage })));
  const receiver = await startUpstream((_, res) => void res.end());
  ended.push(
    () => upstream.close(),
    () => receiver.close(),
  );
  const files = {
    'keys.yaml': JSON.stringify({ keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, team: 'search' }] }),
    'teams.yaml': JSON.stringify({ teams: { search: { budgets: [{ cap: '4000 tokens', period: 'total' }] } } }),
  };
  const webhook = {
    id: 'ops',
    url: `\${env:NONE:-${receiver.url}}`,
    secret: `\${env:NONE:-whsec_${Buffer.alloc(32, 1).toString('base64')}}`,
    allow_insecure: true,
    kinds: ['budget'],
  };
  const server = { alerts: { webhooks: [webhook] } };
  const fleet = new Fleet({ upstream: upstream.url, gateway: { it: { provider: '@own' } }, files, server });
  ended.push(() => fleet.end());
  const { url } = await fleet.listens();
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    'x-gateway-config': 'it',
    'x-gateway-api-key': KEY,
  };
  const body = JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] });
  const spend = async (requests: number): Promise<void> => {
    for (let at = 0; at < requests; at += 1)
      await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).arrayBuffer();
  };
  const percents = (): unknown[] => receiver.seen.map(({ json: event }) => (event.data as { percent: number }).percent);
  await spend(24);
  await until(() => percents().includes(50), 'half of the budget is alerted');
  await spend(11);
  await until(() => percents().includes(80), 'more of the budget is alerted');
  // Another look of both workers.
  await spend(1);
  await new Promise((resolve) => setTimeout(resolve, 6000));
  expect(percents()).toEqual([50, 80]);
  const served = fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : []));
  expect(new Set(served).size).toBe(2);
  const logged = fleet.lines.filter(({ alert }) => alert === 'budget');
  expect(logged.map(({ percent }) => percent)).toEqual([50, 80]);
});
