import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair, type PairSetup } from '../support/pair.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';

const answer: Script = ({ json: body }, res) =>
  body['stream'] === true
    ? sse(res, [openaiChunk({ content: 'Hello' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply('Hello'));

const target = { provider: '@openai', override_params: { model: 'gpt-4o' } };
const all = { ...target, reply_headers: ['server_timing', 'config_hash'] };

async function ask(setup: PairSetup, { headers = {}, stream = false, script = answer } = {}) {
  const { gateway } = await startPair(script, setup);
  const send = (more: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'x-gateway-config': 'it',
        ...headers,
        ...more,
      },
      body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content: 'hi' }] }),
    });
  const response = await send();
  await response.text();
  return { response, send };
}

/** `name;dur=1.23` by name. */
const timesIn = (header: string | null): ReadonlyMap<string, number> =>
  new Map((header ?? '').split(', ').map((part) => [part.split(';dur=')[0]!, Number(part.split(';dur=')[1])]));

describe('a reply', () => {
  it('says nothing of how it came about unless its config asks', async () => {
    const { response } = await ask({ gateway: { it: target, other: all } });
    expect(response.status).toBe(200);
    expect(response.headers.get('server-timing')).toBeNull();
    expect(response.headers.get('x-gateway-config-hash')).toBeNull();
    expect(response.headers.get('x-gateway-explain-id')).toBeNull();
  });

  it.each([false, true])(
    'tells each plugin of its plan, and the moments of the upstream (stream: %s)',
    async (stream) => {
      const { response } = await ask({ gateway: { it: all } }, { stream });
      const times = timesIn(response.headers.get('server-timing'));
      const chain = ['telemetry', 'errors', 'auth', 'body', 'config', 'metadata', 'route'];
      const attempt = ['override', 'transform', 'send'];
      expect([...times.keys()]).toEqual([
        ...[...chain, ...attempt].map((name) => `plugin-${name}`),
        'upstream-connect',
        'upstream-first-byte',
        'upstream-first-content',
        'total',
      ]);
      const moments = ['upstream-connect', 'upstream-first-byte', 'upstream-first-content', 'total'];
      expect(moments.map((name) => times.get(name)!)).toEqual(
        moments.map((name) => times.get(name)!).toSorted((a, b) => a - b),
      );
      expect([...times.values()].every((ms) => ms >= 0)).toBe(true);
      // No moment is counted twice, though chains run inside plugins; each value is rounded to 10 µs.
      const plugins = [...times].filter(([name]) => name.startsWith('plugin-'));
      expect(plugins.reduce((sum, [, ms]) => sum + ms, 0)).toBeLessThanOrEqual(times.get('total')! + 0.2);
    },
  );

  it('has its cost if the config asks, as the access line has it; a stream has none', async () => {
    const prices = { prices: [{ model: '*', entry: '@openai', usd: { input: 2, output: 8 } }] };
    const { gateway } = await startPair(answer, {
      prices,
      gateway: { it: { ...target, reply_headers: ['cost'] } },
    });
    const send = async (stream: boolean) => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-gateway-config': 'it' },
        body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content: 'hi' }] }),
      });
      await response.text();
      return response.headers.get('x-gateway-cost-usd');
    };
    const cost = await send(false);
    await expect.poll(() => gateway.logs.at(-1)?.['cost_usd']).toBe(Number(cost));
    expect(Number(cost)).toBeGreaterThan(0);
    expect(await send(true)).toBeNull();
  });

  it('tells the times of a failure, too', async () => {
    const script: Script = (_, res) => json(res, { error: { message: 'no' } }, 400);
    const { response } = await ask({ gateway: { it: all } }, { script });
    expect(response.status).toBe(400);
    expect(response.headers.get('server-timing')).toContain('upstream-first-byte;dur=');
    expect(response.headers.get('x-gateway-config-hash')).toMatch(/^[0-9a-f]{16}$/);
  });

  it('tells what was lost on targets before the one that answered, so that the times add up', async () => {
    const script: Script = (seen, res) => {
      if (seen.json['model'] !== 'busy') return json(res, openaiReply('Hello'));
      setTimeout(() => json(res, { error: { message: 'busy' } }, 503), 60);
    };
    const targets = ['busy', 'gpt-4o'].map((model) => ({ ...target, override_params: { model } }));
    const config = { strategy: { mode: 'fallback' }, targets, reply_headers: ['server_timing'] };
    const { response } = await ask({ gateway: { it: config } }, { script });
    const times = timesIn(response.headers.get('server-timing'));
    expect(response.status).toBe(200);
    expect(times.get('earlier-attempts')).toBeGreaterThan(50);
    const parts = [...times].filter(([name]) => name.startsWith('plugin-') || name === 'earlier-attempts');
    const unaccounted = times.get('total')! - parts.reduce((sum, [, ms]) => sum + ms, 0);
    expect(unaccounted).toBeLessThan(times.get('earlier-attempts')!);
  });

  it('has the same hash for the same config, and another for another', async () => {
    const { response, send } = await ask({ gateway: { it: all, same: all, other: { ...all, commit: 'complete' } } });
    const hashes = await Promise.all(
      ['it', 'same', 'other'].map(async (id) =>
        (await send({ 'x-gateway-config': id })).headers.get('x-gateway-config-hash'),
      ),
    );
    expect(hashes[0]).toBe(response.headers.get('x-gateway-config-hash'));
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it('carries the prefix of its request', async () => {
    const { gateway } = await startPair(answer, {
      gateway: { it: all },
      server: { header_prefixes: ['gateway', 'x-acme-'] },
    });
    const { headers } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-acme-api-key': KEY, 'x-acme-config': 'it', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect([headers.get('x-acme-config-hash'), headers.get('x-gateway-config-hash')]).toEqual([
      expect.any(String),
      null,
    ]);
  });

  it('tells the plugins, too, where the config came with the request', async () => {
    const keys = { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, inline_configs: true }] };
    const { response } = await ask(
      { keys, gateway: { it: target } },
      { headers: { 'x-gateway-config': JSON.stringify(all) } },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('server-timing')).toContain('plugin-auth;dur=');
  });
});
