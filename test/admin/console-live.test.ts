import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { chat, startAdmin, type AdminGateway } from './kit.ts';
import { openStream, type LiveStream } from './live.testkit.ts';

let upstream: ScriptedUpstream;
let admin: AdminGateway;
let token: string;
const open: LiveStream[] = [];

beforeAll(async () => {
  upstream = await startUpstream(({ json: { model } }, res) =>
    model === 'bad' ? json(res, { error: { message: 'no' } }, 400) : json(res, openaiReply('hi')),
  );
  admin = await startAdmin({
    teams: { teams: { search: {} } },
    catalog: {
      providers: [
        { slug: 'openai', provider: 'openai', base_url: `${upstream.url}/v1`, allow_insecure: true },
        { slug: 'free', provider: 'simulator', base_url: upstream.url, allow_insecure: true },
        { slug: 'claude', provider: 'anthropic', api_key: '${env:CLAUDE:-a-key-of-anthropic}' },
      ],
    },
    gateway: { default: { provider: '@openai' }, free: { provider: '@free' } },
  });
  token = await admin.token('viewer');
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
});
afterEach(() => open.splice(0).forEach((stream) => stream.close()));

const get = (path: string) => admin.ask('GET', path, { token });

async function listen(query = '', headers: Readonly<Record<string, string>> = {}): Promise<LiveStream> {
  const url = `${admin.gateway.admin!.url}/admin/v1/stream${query}`;
  const stream = await openStream(url, { authorization: `Bearer ${token}`, ...headers });
  open.push(stream);
  return stream;
}

const send = (id: string, model = 'good') => chat(admin, { 'x-request-id': id }, { model });
const isLine = (id: string) => (event: LiveStream['events'][number]) =>
  event.event === 'line' && event.data.request_id === id && event.data.state !== 'running';
const endedIn = (stream: LiveStream): string[] =>
  stream.events.flatMap(({ event, data }) => (event === 'line' && data.state !== 'running' ? [data.request_id] : []));

describe('a stream of requests', () => {
  it('has each request as it ends, with the line of the list', async () => {
    const stream = await listen();
    await stream.find(({ event }) => event === 'boot');
    await send('live-1');
    const { id, data } = await stream.find(isLine('live-1'));
    const { items } = (await get('/requests?q=live-1')).json;
    expect([data, id]).toEqual([items[0], expect.stringMatching(/^\d+$/)]);
  });

  it('has the filters of the list', async () => {
    const stream = await listen('?state=failed&topics=requests');
    await stream.find(({ event }) => event === 'boot');
    await send('fine');
    await send('broken', 'bad');
    await stream.find(isLine('broken'));
    expect(endedIn(stream)).toEqual(['broken']);
  });

  it('resumes after the last event, and where a list began', async () => {
    const first = await listen();
    await first.find(({ event }) => event === 'boot');
    await send('before');
    const { id } = await first.find(isLine('before'));
    first.close();
    const { live } = (await get('/requests')).json;
    await send('between');
    for (const lastId of [id!, live]) {
      const stream = await listen('', { 'last-event-id': lastId });
      await stream.find(isLine('between'));
      expect(endedIn(stream)).toEqual(['between']);
    }
    expect((await admin.ask('GET', '/stream', { token, headers: { 'last-event-id': 'x' } })).status).toBe(400);
  });

  it('counts what is more than a browser shows', async () => {
    const { live } = (await get('/requests')).json;
    await Promise.all(Array.from({ length: 130 }, (_, index) => send(`many-${index}`)));
    const stream = await listen('', { 'last-event-id': live });
    const gap = await stream.find(({ event }) => event === 'gap');
    expect(gap.data).toEqual({ missed: 80, partial: [] });
    expect(endedIn(stream).length).toBe(50);
  });

  it('tells that settings were refused', async () => {
    const stream = await listen('?topics=settings');
    await stream.find(({ event, data }) => event === 'settings' && data.ok);
    writeFileSync(join(admin.configs, 'gateway/default.yaml'), 'provider: "@openai"\ncolour: red\n');
    await admin.gateway.reload();
    const { data } = await stream.find((event) => event.event === 'settings' && !event.data.ok);
    expect(data.diagnostics[0]).toMatchObject({ file: 'gateway/default.yaml', line: 2 });
  });

  it('is one of twenty at most', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen()));
    expect((await get('/stream')).json).toMatchObject({ code: 'busy' });
    streams[0]!.close();
    await streams[0]!.ended;
    let status = 503;
    while (status === 503) {
      const again = await listen();
      ({ status } = again);
      again.close();
    }
    expect(status).toBe(200);
  });
});

describe('statistics', () => {
  it('count requests, failures, tokens, durations and requests without a price in steps, by what is asked for', async () => {
    await send('counted');
    await send('counted-bad', 'bad');
    await chat(admin, { 'x-gateway-config': 'free' }, { model: 'good' });
    const { json: stats } = await get('/stats?by=state');
    expect(stats).toMatchObject({ step_s: 10, points: expect.any(Number), other: null });
    const by = Object.fromEntries(stats.series.map((one: { name: string }) => [one.name, one]));
    const sum = (values: number[]) => values.reduce((total, one) => total + one, 0);
    const all = (await get('/requests?limit=200')).json.items as {
      state: string;
      tokens?: { input: number };
      provider?: string;
    }[];
    for (const state of ['complete', 'failed']) {
      const own = all.filter((one) => one.state === state);
      expect(sum(by[state].requests)).toBe(own.length);
      expect(sum(by[state].tokens_in)).toBe(own.reduce((total, { tokens }) => total + (tokens?.input ?? 0), 0));
    }
    expect(sum(by.failed.errors)).toBe(sum(by.failed.requests));
    expect(by.complete.p95_ms.some((ms: number | null) => ms !== null && ms > 0)).toBe(true);
    // The statistics ask for no price of the simulator.
    const unpriced = all.filter((one) => one.provider === 'openai' && one.state === 'complete').length;
    expect([sum(by.complete.unpriced), all.some((one) => one.provider === 'free')]).toEqual([unpriced, true]);
    const one = (await get('/stats?by=key&state=failed&step_s=300')).json;
    expect(one.series).toMatchObject([{ name: 'test' }]);
  });

  it('say by model which one an entry has lost, whichever target has answered', async () => {
    await chat(admin, { 'x-gateway-config': 'free' }, { model: 'claude-3-opus' });
    const { series } = (await get('/stats?by=model')).json as { series: { name: string; retires?: object }[] };
    const retires = { day: '2026-01-05', past: true, successor: 'claude-opus-4-8' };
    expect(series.flatMap(({ name, retires: found }) => (found ? [[name, found]] : []))).toEqual([
      ['claude-3-opus', retires],
    ]);
    expect((await get('/stats?by=key')).json.series.some((one: object) => 'retires' in one)).toBe(false);
  });

  it('refuse a time of too many steps, and what it cannot count by', async () => {
    for (const query of ['by=colour', 'from=2026-01-01&step_s=10', 'from=2026-01-02&to=2026-01-01', 'step_s=7'])
      expect([query, (await get(`/stats?${query}`)).status]).toEqual([query, 400]);
  });
});
