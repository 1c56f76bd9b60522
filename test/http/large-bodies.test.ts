import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { anthropicReply, json, openaiReply } from '../support/upstream.ts';

/** Bodies over 1 MB take turns, and other requests run in between. */

const messages = [{ role: 'user', content: 'hi' }];
const large = (model: string, megabytes = 2) =>
  JSON.stringify({
    model,
    max_tokens: 5,
    messages: Array.from({ length: megabytes * 10_000 }, (_, index) => ({
      role: 'user',
      content: `${index} ${'x'.repeat(60)}`,
    })),
  });

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body,
  });
  const { error } = (await response.json()) as { error?: Record<string, unknown> };
  return { status: response.status, headers: response.headers, error };
}

const answer: Parameters<typeof startPair>[0] = ({ url }, res) =>
  json(res, url.includes('messages') ? anthropicReply('hi') : openaiReply('hi'));

describe('bodies over 1 MB', () => {
  it('are read, changed, translated and passed through whole', async () => {
    const { upstream, gateway } = await startPair(answer, {
      gateway: {
        both: {
          strategy: { mode: 'fallback', on_status_codes: [503] },
          cache: { mode: 'exact' },
          override_params: { temperature: 0.5 },
          targets: [{ provider: '@openai' }, { provider: '@claude' }],
        },
      },
    });
    expect((await post(gateway.url, large('@openai/m'))).status).toBe(200);
    expect(upstream.seen[0]!.text).toBe(large('m'));
    expect((await post(gateway.url, large('@claude/claude-3-5-haiku-20241022'))).status).toBe(200);
    expect((upstream.seen[1]!.json['messages'] as unknown[]).length).toBeGreaterThan(0);
    expect((await post(gateway.url, large('m'), { 'x-gateway-config': 'both' })).status).toBe(200);
    expect(upstream.seen[2]!.json).toMatchObject({ temperature: 0.5, model: 'm' });
  });

  it.each([
    ['of 70 KB', 70_000],
    ['of 2 MB', 2_000_000],
  ])('and bodies %s are refused by their whole schema, though they would be passed through', async (_, bytes) => {
    const { upstream, gateway } = await startPair(answer);
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
        body: JSON.stringify({ ...body, user: 'x'.repeat(bytes) }),
      });
      return [response.status, await response.text()];
    };
    const claude = { model: '@claude/claude-3-5-haiku-20241022', max_tokens: 5 };
    expect(await ask('/v1/messages', claude)).toEqual([
      400,
      expect.stringContaining('`messages` is required.') as string,
    ]);
    const broken = { model: '@openai/m', messages: [...messages, { role: 'boss' }] };
    expect(await ask('/v1/chat/completions', broken)).toEqual([
      400,
      expect.stringContaining('`messages[1].role` must be one of') as string,
    ]);
    expect(upstream.seen).toEqual([]);
    expect((await ask('/v1/chat/completions', { model: '@openai/m', messages }))[0]).toBe(200);
  });

  it('are refused where too many wait for their turn, and small ones beside them are served', async () => {
    const { gateway } = await startPair(answer, { server: { limits: { large_bodies: 4 } } });
    const many = Array.from({ length: 12 }, () => post(gateway.url, large('@claude/claude-3-5-haiku-20241022')));
    const small = Array.from({ length: 20 }, () => post(gateway.url, JSON.stringify({ model: '@openai/m', messages })));
    expect((await Promise.all(small)).map(({ status }) => status)).toEqual(small.map(() => 200));
    const replies = await Promise.all(many);
    const [served, refused] = [200, 503].map((status) => replies.filter((reply) => reply.status === status));
    expect(served!.length).toBeGreaterThan(0);
    expect(refused!.length).toBeGreaterThan(0);
    expect(served!.length + refused!.length).toBe(12);
    for (const { error, headers } of refused!) {
      expect(error).toMatchObject({ code: 'busy', message: expect.stringContaining('limits.large_bodies') as string });
      expect(headers.get('retry-after')).toBe('1');
    }
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toContain(
      `gatehouse_limit_refusals_total{limit="large_bodies",action="refused"} ${refused!.length}`,
    );
    expect(metrics).toContain('\ngatehouse_large_bodies_waiting 0\n');
    expect(Number(/^gatehouse_large_body_wait_seconds_count (\d+)$/m.exec(metrics)![1])).toBeGreaterThan(0);
  });

  it('are not written for an upstream once their client has left', async () => {
    const { upstream, gateway } = await startPair(answer);
    const leaving = new AbortController();
    const others = Array.from({ length: 4 }, () => post(gateway.url, large('@claude/claude-3-5-haiku-20241022')));
    const left = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: large('@openai/left', 3),
      signal: leaving.signal,
    });
    setTimeout(() => leaving.abort(), 5);
    await expect(left).rejects.toThrow();
    for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    expect(upstream.seen.filter(({ json: { model } }) => model === 'left')).toEqual([]);
  });
});
