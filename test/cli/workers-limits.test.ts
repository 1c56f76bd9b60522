import { afterEach, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { AT_ONCE, startFleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    // A connection of its own: workers take turns with connections.
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, connection: 'close' },
    body: JSON.stringify({ model: '@own/m', stream: true, messages: [{ role: 'user', content: AT_ONCE }] }),
  });
  await answer.text();
  return answer.status;
}

it('workers have an equal part of a rate each, and together no more than all of it', async () => {
  const keys = [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, limits: { requests: '120/min' } }];
  const { url, statusUrl } = await startFleet(ended, { files: { 'keys.yaml': JSON.stringify({ keys }) } });
  const from = performance.now();
  const statuses: number[] = [];
  for (let count = 0; count < 40; count += 1) statuses.push(await statusOf(url));
  const passed = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  // Ten at once in each of two workers, and two a second come back.
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(20 + Math.ceil((performance.now() - from) / 500));
  const metrics = await (await fetch(`${statusUrl}/metrics`)).text();
  expect(metrics).toContain(`gatehouse_rate_limit_refusals_total{node="key",limit="requests"} ${40 - passed}\n`);
}, 60_000);
