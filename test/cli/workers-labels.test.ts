import { afterEach, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { AT_ONCE, startFleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function ask(url: string, model: string): Promise<void> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    // A connection of its own: workers take turns with connections.
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, connection: 'close' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: AT_ONCE }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}

async function attempts(statusUrl: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  const lines = text.matchAll(/^gatehouse_upstream_attempts_total\{[^}]*request_model="([^"]*)"[^}]*\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, model, count]) => [model, Number(count)]));
}

/** Scrapes wait for workers that are busy. */
const PATIENT = { timeout: 60_000 };

describe('model names as labels, with workers', () => {
  it('are the same in all workers, and bounded for all together', async () => {
    const { url, statusUrl } = await startFleet(ended);
    let asked = 0;
    const askAll = async (models: readonly string[]) => {
      for (const model of models) await ask(url, model);
      asked += models.length;
    };
    await askAll(['@own/gpt-a']);
    // The primary has told both workers by the time a scrape has asked them.
    await expect
      .poll(async () => Object.values(await attempts(statusUrl)).reduce((sum, n) => sum + n, 0), PATIENT)
      .toBe(asked);
    await askAll(Array.from({ length: 10 }, () => '@own/gpt-a'));
    await expect.poll(async () => (await attempts(statusUrl))['gpt-a'], PATIENT).toBe(10);
    // Each name twice: its first answer is that of a name without a label.
    const names = Array.from({ length: 40 }, (_, index) => `@own/gpt-${index}`);
    for (const batch of [names.slice(0, 15), names.slice(15, 30), names.slice(30)]) {
      await askAll(batch);
      await new Promise((resolve) => setTimeout(resolve, 1100));
    }
    await askAll(names);
    await expect
      .poll(async () => Object.values(await attempts(statusUrl)).reduce((sum, n) => sum + n, 0), PATIENT)
      .toBe(asked);
    expect(Object.keys(await attempts(statusUrl)).filter((model) => model.startsWith('gpt-'))).toHaveLength(20);
  }, 60_000);
});
