import { afterAll, expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../src/addons/valkey/engine/client.ts';
import { addressIn } from '../../src/addons/valkey/settings/shared.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { Secret } from '../../src/plugin/index.ts';
import { certificateFolder } from '../network/tls.testkit.ts';
import { isFull } from '../support/effort.ts';
import { until, type TestGateway } from '../support/gateway.ts';
import { inTurns } from '../support/in-turns.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../support/redis.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { ask, chat, KEYS, metricOf, startFleet } from './gateways.ts';

const answers: Script = (_, res) => json(res, openaiReply('Hello.'));
const CACHED = { server: { default_config: 'cached' }, gateway: { cached: { cache: { mode: 'exact', max_age: 60 } } } };
const LEAST = { rounds: isFull('fleet') ? 1000 : 60, ms: 3_000 };
const LIMITS = { requests: '6000/min', tokens: '1000000/min', concurrency: 50 };

/** Requests that use all that is shared. */
async function served(gateways: readonly TestGateway[], what: string): Promise<void> {
  for (const [at, gateway] of [...gateways, ...gateways].entries()) {
    expect((await chat(gateway, `${what} ${at}`, KEYS.limited)).status).toBe(200);
    const body = { model: '@openai/gpt-x', input: `${what} ${at}` };
    expect((await ask(gateway, '/v1/responses', { key: KEYS.limited, body })).status).toBe(200);
  }
}

const isUp = async (gateway: TestGateway): Promise<boolean> => (await metricOf(gateway, 'gatehouse_shared_up')) === 1;

describeWithRedis('requests go on while the server', () => {
  it('hangs, is killed and comes back', async () => {
    const { a, b, redis } = await startFleet(answers, { ...CACHED, limits: LIMITS });
    await served([a, b], 'before');
    redis.hang();
    await served([a, b], 'hangs');
    await until(async () => !(await isUp(a)) && !(await isUp(b)), 'both have stopped to ask it');
    await served([a, b], 'away');
    redis.resume();
    await until(async () => (await isUp(a)) && (await isUp(b)), 'both use it again');
    await served([a, b], 'back');
    await redis.kill();
    await served([a, b], 'killed');
    const kept = await ask(a, '/v1/responses/resp_1', { key: KEYS.limited });
    expect([kept.status, kept.text.includes('store_unavailable')]).toEqual([503, true]);
    await redis.restart();
    await until(async () => (await isUp(a)) && (await isUp(b)), 'both use the new one');
    await served([a, b], 'restarted');
    for (const { logs } of [a, b]) {
      const lines = logs.filter(({ msg }) => String(msg).includes('shared engine'));
      // One line for each outage and one for its end, whatever the number of requests and probes. A busy machine adds outages.
      const away = lines.filter(({ msg }) => String(msg).includes('is away')).length;
      expect([away - 1, away]).toContain(lines.length - away);
    }
  });

  it.each([
    ['hang', 0],
    ['deaf', 0],
    ['pass', 200],
  ] as const)(
    'is behind a network with: %s, %d ms, and take no longer than those of a gateway that reaches it',
    async (mode, delay) => {
      const relays: Relay[] = [];
      const url = async ({ port, url: direct }: RedisServer, at: number): Promise<string> => {
        if (at === 0) return direct;
        const between = await startRelay(port);
        onTestFinished(() => between.close());
        relays.push(between);
        return `redis://127.0.0.1:${between.port}`;
      };
      const limits = { requests: '600000/min', tokens: '100000000/min', concurrency: 50 };
      const { gateways } = await startFleet(answers, { limits, url });
      for (const one of gateways) expect((await chat(one, 'Hi', KEYS.limited)).status).toBe(200);
      relays[0]!.set(mode, delay);
      const asks = gateways.map((one) => async () => (await chat(one, 'Hi', KEYS.limited)).status);
      const { answers: statuses, p50, p99 } = await inTurns(asks, LEAST);
      const ratios = [p50, p99].map(([beside, away]) => (away! / beside!).toFixed(2));
      console.log(`Valkey ${mode}, ${delay} ms: p50 ${ratios[0]} x, p99 ${ratios[1]} x of a gateway that reaches it`);
      expect([...statuses]).toEqual([200]);
      // A command has 100 ms: a request that waited for one would take ten times as long.
      expect(p50[1]!).toBeLessThan(3 * p50[0]!);
      relays[0]!.set('pass');
    },
  );

  it('loses everything', async () => {
    const { a, b, redis } = await startFleet(answers, { ...CACHED, limits: LIMITS });
    const body = { model: '@openai/gpt-x', input: 'Hi' };
    const { id } = JSON.parse((await ask(a, '/v1/responses', { body })).text) as { id: string };
    await until(async () => (await ask(b, `/v1/responses/${id}`)).status === 200, 'it is kept');
    await served([a, b], 'before');
    redis.cli('FLUSHALL');
    redis.cli('SCRIPT', 'FLUSH');
    await served([a, b], 'flushed');
    await until(async () => (await ask(b, `/v1/responses/${id}`)).status === 404, 'it is gone');
    expect((await ask(b, '/v1/responses', { body })).status).toBe(200);
  });

  it.each(['allkeys-lru', 'noeviction'])('is full (%s)', async (policy) => {
    const flags = ['--maxmemory', '3mb', '--maxmemory-policy', policy];
    const { a, b } = await startFleet(answers, { ...CACHED, limits: LIMITS, flags });
    for (let at = 0; at < 30; at += 1) {
      const body = { model: '@openai/gpt-x', input: `${at} ${'x'.repeat(100_000)}` };
      const made = await ask(at % 2 === 0 ? a : b, '/v1/responses', { body });
      expect(made.status).toBe(200);
      const { id } = JSON.parse(made.text) as { id: string };
      expect([200, 404, 503]).toContain((await ask(b, `/v1/responses/${id}`)).status);
    }
    await served([a, b], 'full');
  });
});

const PASSWORD = 'canary-of-the-shared-engine';

describeWithRedis('the password of the server', () => {
  it('signs in an account that may not use SCRIPT', async () => {
    const account = ['gw', 'on', `>${PASSWORD}`, '~gatehouse:*', '&gatehouse:*', '+@all', '-@admin', '-script'];
    const flags = ['--user', ...account];
    const url = ({ port }: { readonly port: number }): string => `redis://gw:${PASSWORD}@127.0.0.1:${port}/0`;
    const { a, b } = await startFleet(answers, { limits: LIMITS, flags, url });
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 2, 'both share');
    await served([a, b], 'signed in');
    expect(await metricOf(a, 'gatehouse_shared_commands_total', 'result="failed"')).toBe(0);
    for (const one of [a, b]) expect(one.logText()).not.toContain(PASSWORD);
  });

  it('is in no log, metric or page when it is wrong, and requests are served', async () => {
    const url = ({ port }: { readonly port: number }): string => `redis://:${PASSWORD}@127.0.0.1:${port}`;
    const { a, b } = await startFleet(answers, {
      limits: LIMITS,
      flags: ['--requirepass', 'canary-of-the-server'],
      url,
      isRefused: true,
    });
    await served([a, b], 'wrong');
    expect(await isUp(a)).toBe(false);
    const pages = ['/metrics', '/readyz?verbose'].map(async (path) => (await fetch(`${a.statusUrl}${path}`)).text());
    const shown = [a.logText(), ...(await Promise.all(pages))].join('\n');
    expect(shown).toContain('the shared engine is away');
    expect(shown).not.toContain(PASSWORD);
    expect(shown).not.toContain('canary');
  });
});

describeWithRedis('TLS to the server', () => {
  const authority = new Authority();
  afterAll(() => authority.close());

  it('is verified unless the address is loopback', async () => {
    const folder = certificateFolder();
    folder.install(authority.issue());
    const files = ['--tls-cert-file', folder.cert, '--tls-key-file', folder.key, '--tls-auth-clients', 'no'];
    const redis = await startRedis((port) => ['--port', '0', '--tls-port', String(port), ...files]);
    onTestFinished(() => redis.stop());
    const address = addressIn(new Secret(`rediss://127.0.0.1:${redis.port}`))!;
    expect(address.tls).toEqual({ verified: false });
    const options = { clock: systemClock, limitMs: 30_000, onLost() {} };
    const client = await connectClient(address, options);
    expect(await client.send(['PING'], false)).toBe('PONG');
    client.destroy();
    const verified = connectClient({ ...address, tls: { verified: true } }, options);
    await expect(verified).rejects.toMatchObject({ code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO/) });
  });
});
