import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { until, type TestGateway } from '../support/gateway.ts';
import { describeWithRedis, type RedisServer } from '../support/redis.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { chat, KEYS, metricOf, slowAnswers, startFleet, type Fleet } from './gateways.ts';

const answers: Script = (_, res) => json(res, openaiReply('Hello.'));

/** Requests of the limited key that two gateways admit, one after the other on each in turn. */
async function admitted({ a, b }: Fleet, requests: number): Promise<{ count: number; seconds: number }> {
  const from = performance.now();
  let count = 0;
  for (let at = 0; at < requests; at += 1) {
    const { status } = await chat(at % 2 === 0 ? a : b, 'Hi', KEYS.limited);
    expect([200, 429]).toContain(status);
    if (status === 200) count += 1;
  }
  return { count, seconds: (performance.now() - from) / 1000 };
}

describeWithRedis('limits that two gateways share', () => {
  const [rate, burst] = [1, 10];

  it('admit a rate once, with its burst and one slice for each gateway, in turn and at once', async () => {
    const fleet = await startFleet(answers, { limits: { requests: '60/min' } });
    const { a, b } = fleet;
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 2, 'both know of each other');
    const from = performance.now();
    const one = await admitted(fleet, 30);
    const together = await Promise.all(
      Array.from({ length: 30 }, (_, at) => chat(at % 2 === 0 ? a : b, 'Hi', KEYS.limited)),
    );
    const count = one.count + together.filter(({ status }) => status === 200).length;
    const seconds = (performance.now() - from) / 1000;
    const missed = (await slowAnswers(a, b)) > 0 ? burst : 0;
    expect(count).toBeLessThanOrEqual(rate * seconds + burst + 2 + missed);
    expect(count).toBeGreaterThanOrEqual(burst - 2);
  });

  it('admit a rate once on three gateways, and wholly on the one that is left when the others fall silent', async () => {
    const relays: Relay[] = [];
    const url = async ({ port, url: direct }: RedisServer, at: number): Promise<string> => {
      if (at === 0) return direct;
      const relay = await startRelay(port);
      onTestFinished(() => relay.close());
      relays.push(relay);
      return `redis://127.0.0.1:${relay.port}`;
    };
    const { gateways } = await startFleet(answers, { limits: { requests: '60/min' }, size: 3, url });
    const [a] = gateways as [TestGateway];
    for (const one of gateways)
      await until(async () => (await metricOf(one, 'gatehouse_shared_members')) === 3, 'each knows of all');
    const from = performance.now();
    let count = 0;
    for (let round = 0; round < 15; round += 1)
      for (const one of gateways) if ((await chat(one, 'Hi', KEYS.limited)).status === 200) count += 1;
    const missed = (await slowAnswers(...gateways)) > 0 ? burst : 0;
    expect(count).toBeLessThanOrEqual(rate * ((performance.now() - from) / 1000) + burst + 3 + missed);
    expect(count).toBeGreaterThanOrEqual(burst - 3);
    // To the server and to the rest, one that was killed looks the same.
    for (const relay of relays) relay.set('cut');
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 1, 'one is left');
    const alone = performance.now();
    const sent = { all: 0, admitted: 0 };
    for (; performance.now() - alone < 9_000; await sleep(100)) {
      sent.all += 1;
      if ((await chat(a, 'Hi', KEYS.limited)).status === 200) sent.admitted += 1;
    }
    const seconds = (performance.now() - alone) / 1000;
    // A third of the rate would be 3.
    expect(sent.admitted).toBeGreaterThanOrEqual(Math.min(sent.all, 6));
    expect(sent.admitted).toBeLessThanOrEqual(rate * seconds + burst + 1);
  });

  it('become an equal part for each gateway while the server is away, and are shared again', async () => {
    const fleet = await startFleet(answers, { limits: { requests: '60/min' } });
    const { a, b, redis } = fleet;
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 2, 'A knows of B');
    await until(async () => (await metricOf(b, 'gatehouse_shared_members')) === 2, 'B knows of A');
    await redis.kill();
    for (const one of [a, b])
      await until(async () => (await metricOf(one, 'gatehouse_shared_up')) === 0, 'the server is away');
    const { count, seconds } = await admitted(fleet, 40);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(count).toBeLessThanOrEqual(rate * seconds + burst + 2);
    await redis.restart();
    for (const one of [a, b])
      await until(async () => (await metricOf(one, 'gatehouse_shared_up')) === 1, 'the server is back');
    await until(async () => (await chat(a, 'Hi', KEYS.limited)).status === 200, 'A admits again');
    await until(async () => (await chat(b, 'Hi', KEYS.limited)).status === 200, 'B admits again');
  });

  it('let the rest have the share of a gateway that has left', async () => {
    const { a, b } = await startFleet(answers, { limits: { requests: '60/min' } });
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 2, 'A knows of B');
    await b.gateway.close();
    await until(async () => (await metricOf(a, 'gatehouse_shared_members')) === 1, 'A is alone');
  });

  it('have as many places for requests at the same time as the limit says, and give them back', async () => {
    const held: (() => void)[] = [];
    const fleet = await startFleet(
      (_, res) => new Promise((resolve) => held.push(() => resolve(json(res, openaiReply('Hello.'))))),
      { limits: { concurrency: 3 } },
    );
    const { a, b, upstream } = fleet;
    const statuses: number[] = [];
    const asked = Array.from({ length: 8 }, async (_, at) => {
      const { status } = await chat(at % 2 === 0 ? a : b, 'Hi', KEYS.limited);
      statuses.push(status);
    });
    await until(() => statuses.length + upstream.seen.length === 8, 'all are refused or wait');
    const missed = (await slowAnswers(a, b)) > 0 ? 1 : 0;
    expect(upstream.seen.length).toBeLessThanOrEqual(3 + missed);
    expect(upstream.seen.length).toBeGreaterThanOrEqual(2);
    expect(statuses.every((status) => status === 429)).toBe(true);
    for (const release of held.splice(0)) release();
    await Promise.all(asked);
    for (const one of [a, b]) {
      const before = upstream.seen.length;
      let last: Promise<unknown> = Promise.resolve();
      await until(async () => {
        last = Promise.race([chat(one, 'Hi', KEYS.limited), new Promise((resolve) => setTimeout(resolve, 200))]);
        await last;
        return upstream.seen.length > before;
      }, 'a place is free again');
      for (const release of held.splice(0)) release();
    }
  });

  it('count the tokens of a reply on one gateway against those of the other', async () => {
    const { a, b } = await startFleet(
      ({ text }, res) => {
        const total_tokens = text.includes('Large') ? 100_000 : 5;
        const usage = { prompt_tokens: 3, completion_tokens: total_tokens - 3, total_tokens };
        json(res, openaiReply('Hello.', { usage }));
      },
      { limits: { tokens: '600/min' } },
    );
    expect((await chat(b, 'Small', KEYS.limited)).status).toBe(200);
    expect((await chat(a, 'Large', KEYS.limited)).status).toBe(200);
    await until(async () => {
      const { status, text } = await chat(b, 'Small', KEYS.limited);
      return status === 429 && text.includes('tokens');
    }, 'B refuses for the tokens of A');
  });
});
