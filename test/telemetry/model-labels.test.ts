import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';

const OTHER_KEY = 'other-key-0123456789';

const start = () =>
  startPair(
    (request, res) =>
      request.text.includes('gpt-none') ? json(res, { error: { message: 'none' } }, 404) : json(res, openaiReply('hi')),
    (url) => ({
      catalog: {
        providers: [
          { slug: 'up', provider: 'openai', base_url: `${url}/v1`, allow_insecure: true, api_key: 'vendor-key-0123' },
          {
            slug: 'listed',
            provider: 'openai',
            base_url: `${url}/v1`,
            allow_insecure: true,
            api_key: 'vendor-key-0123',
            models: ['house', '*'],
          },
        ],
      },
      keys: {
        keys: [
          { id: 'hog', key: KEY },
          { id: 'other', key: OTHER_KEY },
        ],
      },
    }),
  );

async function ask({ gateway }: Pair, key: string, model: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
  return answer.status;
}

/** Attempts by model. */
async function attempts({ gateway }: Pair): Promise<Map<string, number>> {
  const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, model = '', count] of text.matchAll(
    /^gatehouse_upstream_attempts_total\{[^}]*request_model="([^"]*)"[^}]*\} (\d+)$/gm,
  ))
    counts.set(model, (counts.get(model) ?? 0) + Number(count));
  return counts;
}

describe('model names as labels', () => {
  it('are not used up by one key, whether its names are guesses or answer', async () => {
    const pair = await start();
    for (let index = 0; index < 30; index += 1) expect(await ask(pair, KEY, `@up/gpt-none-${index}`)).toBe(404);
    await expect.poll(() => attempts(pair), { timeout: 60_000 }).toEqual(new Map([['__other__', 30]]));
    for (let index = 0; index < 60; index += 1) expect(await ask(pair, KEY, `@up/gpt-${index}`)).toBe(200);
    expect(await ask(pair, OTHER_KEY, '@up/claude-x')).toBe(200);
    expect(await ask(pair, KEY, '@listed/house')).toBe(200);
    await expect.poll(async () => (await attempts(pair)).get('house')).toBe(1);
    const counts = await attempts(pair);
    expect([...counts.keys()].filter((model) => model.startsWith('gpt-'))).toHaveLength(20);
    expect([counts.get('__other__'), counts.get('claude-x')]).toEqual([70, 1]);
  });
});
