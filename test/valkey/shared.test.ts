import { expect, it } from 'vitest';
import { until, type TestGateway } from '../support/gateway.ts';
import { describeWithRedis } from '../support/redis.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { ask, chat, KEYS, startFleet, type Fleet } from './gateways.ts';

const answers: Script = (_, res, index) => json(res, openaiReply(`Answer ${index}.`));
const CACHED = { server: { default_config: 'cached' }, gateway: { cached: { cache: { mode: 'exact', max_age: 60 } } } };
const SEALED = { encryption_keys: `\${env:NONE:-k1:${Buffer.alloc(32, 7).toString('base64')}}` };

/** All that the server holds, as text. */
const heldBy = ({ redis }: Fleet): string =>
  redis
    .cli('--scan')
    .split('\n')
    .map((name) => `${name} ${redis.cli('--raw', 'GET', name)}`)
    .join('\n');

/** The text of the answer with this status. A look-up that takes longer than 250 ms is a 503: on a busy machine a few are. */
async function answered(
  gateway: TestGateway,
  path: string,
  options: Parameters<typeof ask>[2] = {},
  status = 200,
): Promise<string> {
  let answer = await ask(gateway, path, options);
  await until(async () => {
    if (answer.status === 503) answer = await ask(gateway, path, options);
    return answer.status !== 503;
  }, 'the server answers');
  expect(answer.status).toBe(status);
  return answer.text;
}

describeWithRedis('what two gateways share', () => {
  it.each([
    ['sealed where there are keys for it', SEALED, false],
    ['and can be read without keys', {}, true],
  ] as const)('answers from the cache of the other, %s', async (_, state, readable) => {
    const fleet = await startFleet(answers, { ...CACHED, state });
    const { a, b, upstream } = fleet;
    let text = '';
    let asked = '';
    // A look-up that takes longer than 20 ms is a miss: on a busy machine a few are.
    await until(async () => {
      asked = `Hi ${upstream.seen.length}`;
      const first = await chat(a, asked);
      expect(first.status).toBe(200);
      await until(() => heldBy(fleet).includes(':reply:'), 'a reply is written');
      text = (await chat(b, asked)).text;
      return text === first.text;
    }, 'B has the reply of A');
    expect(/Answer \d/.test(heldBy(fleet))).toBe(readable);
    const sent = upstream.seen.length;
    expect((await chat(b, asked)).text).toBe(text);
    // The cache of a key is its own.
    expect((await chat(b, asked, KEYS.other)).text).not.toBe(text);
    expect(upstream.seen.length).toBe(sent + 1);
  });

  it('continues, reads and deletes a kept response of the other, for its key only', async () => {
    const fleet = await startFleet(answers, { state: SEALED });
    const { a, b, upstream } = fleet;
    const create = { model: '@openai/gpt-x', input: 'First question' };
    const made = await ask(a, '/v1/responses', { body: create });
    expect(made.status).toBe(200);
    const { id, output } = JSON.parse(made.text) as { id: string; output: { id: string }[] };
    await answered(b, '/v1/responses', { body: { ...create, input: 'And then?', previous_response_id: id } });
    expect(upstream.seen.at(-1)?.text).toContain('First question');
    expect(upstream.seen.at(-1)?.text).toContain('Answer 0.');
    const named = [
      { type: 'item_reference', id: output[0]!.id },
      { role: 'user', content: 'Why?' },
    ];
    await answered(b, '/v1/responses', { body: { ...create, input: named } });
    expect(upstream.seen.at(-1)?.text).toContain('Answer 0.');
    expect(await answered(b, `/v1/responses/${id}`)).toContain('Answer 0.');
    await answered(b, `/v1/responses/${id}`, { key: KEYS.other }, 404);
    expect(heldBy(fleet)).not.toContain('Answer 0.');
    await answered(b, `/v1/responses/${id}`, { method: 'DELETE' });
    await answered(a, `/v1/responses/${id}`, {}, 404);
  });

  it('drops the oldest kept responses of a key beyond its bytes, and none of another key', async () => {
    const { a, b } = await startFleet(answers, { server: { responses: { max_bytes: '64KiB' } } });
    const make = async (key: string, chars: number): Promise<string> => {
      const body = { model: '@openai/gpt-x', input: 'x'.repeat(chars) };
      let id = '';
      await until(async () => {
        id = (JSON.parse((await ask(a, '/v1/responses', { key, body })).text) as { id: string }).id;
        return (await ask(b, `/v1/responses/${id}`, { key })).status === 200;
      }, 'the response is kept');
      return id;
    };
    const own = await make(KEYS.other, 10);
    const ids: string[] = [];
    for (let at = 0; at < 30; at += 1) ids.push(await make(KEYS.free, 3500));
    await answered(b, `/v1/responses/${ids.at(-1)}`);
    await answered(b, `/v1/responses/${ids[0]}`, {}, 404);
    await answered(b, `/v1/responses/${own}`, { key: KEYS.other });
  });

  it('keeps away from a target that has refused the other with Retry-After', async () => {
    const targets = ['openai', 'claude'].map((provider) => ({
      provider: `@${provider}`,
      override_params: { model: 'm' },
    }));
    const breaker = { failures: 1, min_requests: 1, failure_rate: 0.1, window: '60s', cooldown: '1s' };
    const { a, b, upstream } = await startFleet(
      ({ url }, res) =>
        url.includes('/chat/completions')
          ? json(res, { error: { message: 'Slow down.' } }, 429, { 'retry-after': '200' })
          : json(res, { type: 'error', error: { type: 'api_error', message: 'No.' } }, 500),
      {
        server: { default_config: 'it' },
        gateway: { it: { strategy: { mode: 'fallback' }, circuit_breaker: breaker, targets, retry: { attempts: 0 } } },
      },
    );
    const sentToFirst = (): number => upstream.seen.filter(({ url }) => url.includes('/chat/completions')).length;
    await chat(a, 'Hi');
    expect(sentToFirst()).toBe(1);
    const health = async (): Promise<string> => (await fetch(`${b.statusUrl}/readyz?verbose`)).text();
    await until(async () => /\bopen\b/.test(await health()), 'B has heard of it');
    await chat(b, 'Hi');
    expect(sentToFirst()).toBe(1);
  });
});
