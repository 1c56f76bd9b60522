import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { until } from '../support/gateway.ts';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
let upstream: ScriptedUpstream;
let receiver: ScriptedUpstream;
let status = 204;
let admin: AdminGateway;
let token: string;

beforeEach(async () => {
  status = 204;
  upstream = await startUpstream((_, res) =>
    json(res, openaiReply('ok', { usage: { prompt_tokens: 1, completion_tokens: 1 } })),
  );
  receiver = await startUpstream((_, res) => void res.writeHead(status).end());
  admin = await startAdmin({
    catalog: {
      providers: [
        { slug: 'sim', provider: 'simulator' },
        { slug: 'openai', provider: 'openai', api_key: 'k', base_url: `${upstream.url}/v1`, allow_insecure: true },
      ],
    },
    gateway: { default: { provider: '@openai' } },
    // No budget refuses a model without a price.
    teams: { teams: { search: {} } },
    server: { telemetry: { metrics: { plugins: 'all' } } },
  });
  token = await admin.token('admin');
});
afterEach(async () => {
  await admin.close();
  await Promise.all([upstream.close(), receiver.close()]);
});

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  admin.ask(method, path, { token, ...(body && { body }) });

const openWebhook = async (): Promise<void> => {
  const spec = { url: `${receiver.url}/canary-path`, secret: SECRET, kinds: ['unknown_price'], allow_insecure: true };
  expect((await call('POST', '/alerts', { id: 'ops', spec })).status).toBe(201);
  // The gateway reads changes of the store behind their writes.
  await until(async () => (await call('POST', '/alerts/ops:test')).status === 200, 'the webhook is in use');
};

const unpriced = (): Promise<unknown> =>
  fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ model: '@openai/no-price', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  }).then((reply) => reply.arrayBuffer());

describe('alerts of a gateway', () => {
  it('that have fired are listed with their deliveries, and a webhook is tested without its address being shown', async () => {
    await openWebhook();
    expect(receiver.seen.at(-1)?.json).toMatchObject({ type: 'test', nodes: [], data: {} });
    await unpriced();
    let fired: Answer | undefined;
    await until(async () => {
      fired = await call('GET', '/alerts/fired');
      return fired.json.items[0]?.deliveries[0]?.state === 'delivered';
    }, 'the alert is delivered');
    expect(fired!.json.items).toMatchObject([
      { kind: 'unknown_price', nodes: [], deliveries: [{ webhook: 'ops', state: 'delivered', tries: 1 }] },
    ]);
    status = 500;
    const failed = await call('POST', '/alerts/ops:test');
    expect(failed.json).toEqual({ webhook: 'ops', state: 'lost', tries: 1, problem: 'HTTP 500' });
    await receiver.close();
    const refused = await call('POST', '/alerts/ops:test');
    expect(refused.json).toMatchObject({ state: 'lost', problem: expect.any(String) });
    expect(fired!.text + failed.text + refused.text).not.toMatch(/canary|whsec_/);
    expect((await call('POST', '/alerts/none:test')).json.code).toBe('not_found');
  }, 30_000);

  it('are tested five times a minute', async () => {
    await openWebhook();
    const codes: unknown[] = [];
    for (let turn = 0; turn < 6; turn += 1) codes.push((await call('POST', '/alerts/ops:test')).json.code);
    expect(codes.at(-1)).toBe('too_many_tests');
    expect(receiver.seen.length).toBe(5);
  });
});

it('The plugins of the chains are listed in their order, with their own time and their errors', async () => {
  await unpriced();
  await fetch(`${admin.gateway.data.url}/v1/chat/completions`, { method: 'POST', body: '{}' });
  const { items } = (await call('GET', '/plugins')).json;
  const names = items.map(({ level, name }: { level: string; name: string }) => `${level} ${name}`);
  expect(names).toEqual(expect.arrayContaining(['entry auth', 'request route', 'attempt send']));
  expect(names.indexOf('attempt retry')).toBeLessThan(names.indexOf('attempt send'));
  expect(items.find(({ name }: { name: string }) => name === 'send')).toMatchObject({
    external: false,
    own: { runs: 1, mean_ms: expect.any(Number), p95_ms: expect.any(Number) },
    errors: [],
  });
  expect(items.find(({ name }: { name: string }) => name === 'auth')).toMatchObject({
    errors: [{ what: 'missing_api_key', count: 1 }],
  });
});

it('Who has called is listed, the latest first, for admins alone', async () => {
  const viewer = await admin.token('viewer', { content: false });
  await admin.ask('GET', '/whoami', { token: viewer });
  expect((await admin.ask('GET', '/people', { token: viewer })).status).toBe(403);
  const { items } = (await call('GET', '/people')).json;
  expect(items[0]).toMatchObject({ role: 'admin', by: 'token', address: '127.0.0.1' });
  expect(items.map(({ role }: { role: string }) => role)).toContain('viewer');
  expect(JSON.stringify(items)).not.toContain('gha_');
});
