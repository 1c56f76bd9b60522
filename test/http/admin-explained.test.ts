import { explainOf } from '../support/explain-of.ts';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse } from '../support/upstream.ts';
import {
  admin,
  ask,
  asked,
  begin,
  call,
  EXPLAIN,
  explainedAs,
  expectSame,
  JSON_TYPE,
  single,
  startWith,
  startWritable,
  target,
  three,
  two,
  type Call,
} from './explain.testkit.ts';

interface Case extends Call {
  readonly gateway: object;
}

const CASES: Record<string, Case> = {
  'one target': { gateway: target('@openai', 'gpt-5') },
  'a fallback': { gateway: { strategy: { mode: 'fallback' }, targets: two } },
  'a fallback between APIs': {
    gateway: { strategy: { mode: 'fallback' }, targets: [two[0], target('@claude', 'claude-haiku')] },
    body: { max_completion_tokens: 7, temperature: 0.5, tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  'a balance by weight': { gateway: { strategy: { mode: 'loadbalance' }, targets: three } },
  'a balance that is sticky': {
    gateway: {
      strategy: { mode: 'loadbalance', sticky: { hash_fields: ['headers.x-session', 'caller'] } },
      targets: three,
    },
    headers: { 'x-session': 'of-one-user' },
  },
  'a conditional': {
    gateway: {
      strategy: {
        mode: 'conditional',
        // oxlint-disable-next-line unicorn/no-thenable -- how a config says where a condition leads
        conditions: [{ query: { 'metadata.tier': 'gold' }, then: 'gold' }],
        default: 'rest',
      },
      targets: [target('@openai', 'plain', { name: 'rest' }), target('@openai', 'fine', { name: 'gold' })],
    },
    headers: { 'x-gateway-metadata': '{"tier":"gold"}' },
  },
  'a balance within a fallback': {
    gateway: {
      strategy: { mode: 'fallback' },
      targets: [two[0], { strategy: { mode: 'loadbalance' }, targets: three }],
    },
  },
  'headers that are forwarded': {
    gateway: { ...target('@claude', 'claude-haiku'), forward_headers: ['x-tenant'] },
    path: '/v1/messages',
    headers: {
      'x-tenant': 'eu',
      'x-other': 'stays',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-1m-2025-08-07',
    },
    body: { max_tokens: 5, system: 'Be short.' },
  },
};

describe('a request that was served', () => {
  it('is explained by the id on its reply, beside the record of what became of it', async () => {
    const { gateway } = await startWith({ gateway: { prod: asked({ strategy: { mode: 'fallback' }, targets: two }) } });
    // Callers may use an id twice: the record is that of this one.
    await call(gateway, { config: 'prod', headers: { 'x-request-id': 'req-1' } });
    const { id } = await call(gateway, { config: 'prod', headers: { 'x-request-id': 'req-1' } });
    await call(gateway, { config: 'prod', headers: { 'x-request-id': 'req-1' } });
    expect(await explainedAs(gateway, id)).toMatchObject({
      request: { id: 'req-1', operation: 'chat.completions' },
      caller: { key: 'test' },
      config: { id: 'prod' },
      targets: [{ target: 'config.targets[0]' }, { target: 'config.targets[1]' }],
      record: { request_id: 'req-1', explain_id: id, attempts: [{ outcome: 'error' }, { outcome: 'success' }] },
    });
    expect(await explainOf(gateway.gateway).explained(id)).toMatchObject({
      config: { id: 'prod' },
      record: { explain_id: id },
    });
  });

  it.each(Object.entries(CASES))('is explained as it was sent: %s', async (_, { gateway: config, ...parts }) => {
    const pair = await startWith({ gateway: { it: asked(config) } });
    // More than once: what is drawn is another target each time.
    for (let round = 0; round < 6; round += 1) {
      const before = pair.upstream.seen.length;
      const { id, status } = await call(pair.gateway, { config: 'it', ...parts });
      expect(status).toBe(200);
      expectSame(await explainedAs(pair.gateway, id), pair, pair.upstream.seen.slice(before));
    }
  });

  it('is explained with the health its targets had then, whatever they do now', async () => {
    let now = 1000;
    let isDown = true;
    const breaker = { failures: 1, min_requests: 1, failure_rate: 0.5, window: '60s', cooldown: '10s' };
    const targets = [target('@openai', 'first'), target('@openai', 'second')];
    const pair = await startWith(
      {
        gateway: { it: asked({ strategy: { mode: 'fallback' }, circuit_breaker: breaker, targets }) },
        options: { clock: { ...systemClock, now: () => now } },
      },
      (seen, res) => (isDown && seen.json['model'] === 'first' ? json(res, {}, 503) : json(res, openaiReply('hi'))),
    );
    await call(pair.gateway, { config: 'it' });
    const before = pair.upstream.seen.length;
    const { id } = await call(pair.gateway, { config: 'it' });
    const sent = pair.upstream.seen.slice(before);
    expect(sent.map(({ json: body }) => body['model'])).toEqual(['second']);
    const live = await ask(pair.gateway, {
      headers: { 'x-gateway-config': 'it' },
      body: { model: 'm', messages: [] },
      key: 'test',
    });
    expect(live.json).toMatchObject({
      targets: [{ target: 'config.targets[1]' }, { target: 'config.targets[0]', why: 'last_resort' }],
    });
    isDown = false;
    now += 20_000;
    for (let round = 0; round < 3; round += 1) await call(pair.gateway, { config: 'it' });
    expect(pair.upstream.seen.at(-1)?.json['model']).toBe('first');
    const explained = await explainedAs(pair.gateway, id);
    expectSame(explained, pair, sent);
    expect(explained.targets[1]).toMatchObject({
      target: 'config.targets[0]',
      why: 'last_resort',
      health: { state: 'open', retryInMs: 10_000 },
    });
    expect(explained.record).toMatchObject({ skipped: [{ target: 'config.targets[0]', reason: 'circuit_open' }] });
  });

  it('is explained with the settings it ran on, however often they have been changed since', async () => {
    const { upstream, gateway, write } = await startWritable();
    write('one');
    // The watcher of the files may have been faster.
    expect(['changed', 'unchanged']).toContain((await gateway.gateway.reload()).outcome);
    const { id } = await call(gateway, { config: 'it' });
    for (const model of ['two', 'three']) {
      write(model);
      expect(['changed', 'unchanged']).toContain((await gateway.gateway.reload()).outcome);
      await call(gateway, { config: 'it' });
    }
    expect(upstream.seen.map(({ json: body }) => body['model'])).toEqual(['one', 'two', 'three']);
    expectSame(await explainedAs(gateway, id), { upstream, gateway }, upstream.seen.slice(0, 1));
    const now = await ask(gateway, { headers: { 'x-gateway-config': 'it' }, body: { model: 'm', messages: [] } });
    expect(now.json).toMatchObject({ targets: [{ outbound: { body: { model: 'three' } } }] });
  });

  it('is explained by the lines that its settings have now, where only their places have changed', async () => {
    const { gateway, write } = await startWritable();
    const { id } = await call(gateway, { config: 'it' });
    const lineOf = async (): Promise<unknown> => (await explainedAs(gateway, id)).targets[0]?.at?.line;
    expect(await lineOf()).toBe(1);
    write('m', {}, '# A comment.\n');
    expect(await gateway.gateway.reload()).toMatchObject({ outcome: 'unchanged' });
    expect(await lineOf()).toBe(2);
  });

  it('is explained before it has ended', async () => {
    let finish = (): void => {};
    const { gateway } = await startWith({ gateway: { it: single } }, async (_, res) => {
      await sse(res, [openaiChunk({ content: 'a' })], false);
      await new Promise<void>((resolve) => (finish = resolve));
      res.end('data: [DONE]\n\n');
    });
    const running = await begin(gateway, { config: 'it', body: { stream: true } });
    expect(await explainedAs(gateway, running.headers.get('x-gateway-explain-id')!)).toMatchObject({
      request: { stream: true },
      record: { state: 'running' },
    });
    finish();
    await running.text();
  });

  it('is kept where its config or the server asks for it, and nowhere else', async () => {
    const configs = { asks: single, silent: target('@openai', 'gpt-5') };
    const keptOf = async (explain: string | undefined): Promise<string[]> => {
      const admin = { port: 0, ...(explain !== undefined && { explain }) };
      const { gateway } = await startWith({ gateway: configs, server: { admin } });
      const kept: string[] = [];
      for (const config of Object.keys(configs)) {
        const { id } = await call(gateway, { config });
        if (id !== null) kept.push(config);
      }
      return kept;
    };
    expect(await keptOf(undefined)).toEqual(['asks']);
    expect(await keptOf('asked')).toEqual(['asks']);
    expect(await keptOf('all')).toEqual(['asks', 'silent']);
    expect(await keptOf('none')).toEqual([]);
  });

  it('is let go with all others when a reload says that none are kept', async () => {
    const { gateway, write } = await startWritable();
    const { id } = await call(gateway, { config: 'it' });
    await explainedAs(gateway, id);
    write('m', { admin: { port: 0, explain: 'none' } });
    await gateway.gateway.reload();
    expect(await admin(gateway, `${EXPLAIN}/${id}`)).toMatchObject({
      status: 404,
      json: { code: 'not_found' },
    });
  });

  it('is not kept once none are, though it began before', async () => {
    const { gateway, write } = await startWritable();
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    const late = request(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { ...JSON_TYPE, 'x-gateway-api-key': KEY, 'x-gateway-config': 'it', 'content-length': body.length },
    });
    const answered = once(late, 'response') as Promise<[IncomingMessage]>;
    late.write(body.slice(0, 9));
    await until(() => gateway.gateway.records({ limit: 1, state: 'running' }).length === 1, 'it runs');
    write('m', { admin: { port: 0, explain: 'none' } });
    await gateway.gateway.reload();
    late.end(body.slice(9));
    const [{ statusCode, headers }] = await answered;
    expect([statusCode, headers['x-gateway-explain-id']]).toEqual([200, undefined]);
    late.destroy();
  });

  it('says so in a header of the prefix that the request used', async () => {
    const server = { header_prefixes: ['x-gateway-', 'x-acme-'] };
    const { gateway } = await startWith({ gateway: { it: single }, server });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${KEY}`, 'x-acme-config': 'it' };
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    const id = response.headers.get('x-acme-explain-id')!;
    await response.text();
    expect(await explainedAs(gateway, id)).toMatchObject({ config: { id: 'it' }, caller: { key: 'test' } });
  });

  it('is not kept when its body is larger than a megabyte', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const content = 'x'.repeat(1024 * 1024);
    const large = await call(gateway, { config: 'it', body: { messages: [{ role: 'user', content }] } });
    expect(large).toMatchObject({ status: 200, id: null });
    const smaller = await call(gateway, {
      config: 'it',
      body: { messages: [{ role: 'user', content: content.slice(200) }] },
    });
    expect(await explainedAs(gateway, smaller.id)).toMatchObject({ request: { bytes: expect.any(Number) } });
  });

  it('is one of the latest hundred', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const ids: string[] = [];
    for (let round = 0; round < 101; round += 1) ids.push((await call(gateway, { config: 'it' })).id);
    expect(new Set(ids).size).toBe(101);
    expect(await admin(gateway, `${EXPLAIN}/${ids[0]}`)).toMatchObject({
      status: 404,
      json: { code: 'not_found', detail: expect.stringContaining('latest 100 requests') },
    });
    for (const index of [1, 100]) await explainedAs(gateway, ids[index]!);
  });

  it('cannot ask for it in a config of its own', async () => {
    const { gateway } = await startWith({ keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] } });
    const { status, id } = await call(gateway, { config: JSON.stringify(single) });
    expect([status, id]).toEqual([400, null]);
    expect((await call(gateway, { config: JSON.stringify(target('@openai', 'm')) })).status).toBe(200);
  });

  it('is explained when it was refused, too', async () => {
    const { gateway, upstream } = await startWith({ gateway: { it: asked({ provider: '@openai' }) } });
    const { id, status } = await call(gateway, { config: 'it', body: { model: '@nobody/m' } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await explainedAs(gateway, id)).toMatchObject({ answer: { status }, record: { status } });
    expect(upstream.seen).toEqual([]);
  });
});
