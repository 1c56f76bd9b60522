import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';
import { until } from '../support/gateway.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const ANY = { 'if-match': '*' };
const USAGE = { usage: { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 } };

let upstream: ScriptedUpstream;
let receiver: ScriptedUpstream;
let admin: AdminGateway;
let token: string;

const catalogOf = ({ url }: ScriptedUpstream) => ({
  providers: [
    { slug: 'openai', provider: 'openai', api_key: '${env:NONE:-k}', base_url: `${url}/v1`, allow_insecure: true },
  ],
});

beforeEach(async () => {
  upstream = await startUpstream((_, res) => json(res, openaiReply('ok', USAGE)));
  receiver = await startUpstream((_, res) => void res.end());
  admin = await startAdmin({
    catalog: catalogOf(upstream),
    gateway: { default: { provider: '@openai', reply_headers: ['cost'] } },
    prices: 'prices:\n  - id: own\n    model: m-file\n    usd: { input: 1, output: 1 }\n',
    teams: { teams: { search: {} } },
  });
  token = await admin.token('admin');
});
afterEach(async () => {
  await admin.close();
  await Promise.all([upstream.close(), receiver.close()]);
});

function call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  return admin.ask(method, path, { token, ...(body && { body }), headers });
}

const problem = ({ status, json: body }: Answer): string => `${status} ${body.code}`;

async function costOf(model: string): Promise<string | null> {
  const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ model: `@openai/${model}`, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  return reply.headers.get('x-gateway-cost-usd');
}

const costBecomes = (model: string, usd: string): Promise<void> =>
  until(async () => (await costOf(model)) === usd, `${model} costs ${usd}`);

describe('a price of the API', () => {
  it('is in force at once, after those of prices.yaml, and no longer when it is deleted', async () => {
    expect([await costOf('m-new'), await costOf('m-file')]).toEqual(['unknown', '0.002']);
    const rule = (usd: object, model = 'm-*') => ({ spec: { model, usd } });
    const created = await call('POST', '/prices', { id: 'b', ...rule({ input: 2, output: 2 }) });
    expect([created.status, created.json.owner, created.json.spec.model]).toEqual([201, 'store', 'm-*']);
    await costBecomes('m-new', '0.004');
    expect(await costOf('m-file')).toBe('0.002');
    // The first by its id is in force.
    await call('POST', '/prices', { id: 'a', ...rule({ input: 3, output: 3 }, 'm-new') });
    await costBecomes('m-new', '0.006');
    await call('PATCH', '/prices/a', { spec: { factor: 0.5 } }, ANY);
    await costBecomes('m-new', '0.003');
    admin = await admin.restart();
    expect(await costOf('m-new')).toBe('0.003');
    expect((await call('DELETE', '/prices/a', undefined, ANY)).status).toBe(204);
    expect((await call('DELETE', '/prices/b', undefined, ANY)).status).toBe(204);
    await costBecomes('m-new', 'unknown');
    expect(admin.logText()).not.toContain('settings reloaded');
  });

  it('stays when files are reloaded, and names only what exists', async () => {
    await call('POST', '/prices', { id: 'a', spec: { model: 'm-new', usd: { input: 1, output: 1 } } });
    await costBecomes('m-new', '0.002');
    const file = join(admin.configs, 'prices.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('1', '4'));
    await until(async () => (await costOf('m-file')) === '0.008', 'the file is in force');
    expect(await costOf('m-new')).toBe('0.002');
    const wrong = await call('POST', '/prices', {
      id: 'c',
      spec: { model: 'x', entry: '@opneai', usd: { input: 0.12345678 }, from: '2026-02-30' },
    });
    const pointers = wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer).sort();
    expect([problem(wrong), pointers]).toEqual(['422 invalid_body', ['/spec/entry', '/spec/from', '/spec/usd/input']]);
  });

  it('has one owner', async () => {
    const twin = { id: 'own', spec: { model: 'x', usd: { input: 1 } } };
    const taken = await call('POST', '/prices', twin);
    expect([problem(taken), taken.json.detail]).toEqual([
      '409 owned_by_files',
      'The price "own" is in prices.yaml:2: change it there.',
    ]);
    expect((await call('GET', '/prices')).json.items).toMatchObject([
      { id: 'own', owner: 'prices.yaml:2', spec: { model: 'm-file', usd: { input: 1, output: 1 } } },
    ]);
    const change = { op: 'put', kind: 'prices', id: 'own', doc: twin.spec, ifVersion: 0 } as const;
    await admin.gateway.state!.store!.entities.write([change], { id: 'ann', role: 'admin' });
    // The gateway reads changes of the store behind their writes.
    let diagnostics: readonly object[] = [];
    await until(async () => {
      ({ diagnostics = [] } = (await admin.gateway.reload()) as { diagnostics?: readonly object[] });
      return diagnostics.length > 0;
    }, 'a reload sees the price of the store');
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        file: expect.stringMatching(/prices\.yaml$/),
        line: 2,
        column: 9,
        message: expect.stringMatching(/^price "own" is also in the store \(by ann, /),
      }),
    );
  });
});

const webhookOf = ({ url }: ScriptedUpstream, more: object = {}) => ({
  url: `${url}/hook/canary-path`,
  secret: SECRET,
  kinds: ['unknown_price'],
  allow_insecure: true,
  ...more,
});

describe('an alert of the API', () => {
  it('gets events at once and after a restart, and nothing shows its address and its secret', async () => {
    const { json: created, status, text } = await call('POST', '/alerts', { id: 'ops', spec: webhookOf(receiver) });
    expect([status, created.spec]).toEqual([201, { kinds: ['unknown_price'], allow_insecure: true }]);
    await until(async () => (await metrics()).includes('gatehouse_webhook_queue{webhook="ops"} 0'), 'it is in use');
    await costOf('unknown-1');
    await until(async () => receiver.seen.length === 1, 'the event has come');
    admin = await admin.restart();
    await until(async () => (await metrics()).includes('gatehouse_webhook_queue{webhook="ops"} 0'), 'it is in use');
    await costOf('unknown-2');
    await until(async () => receiver.seen.length === 2, 'the event has come');
    expect(receiver.seen.map(({ url }) => url)).toEqual(['/hook/canary-path', '/hook/canary-path']);
    const patched = await call('PATCH', '/alerts/ops', { spec: { kinds: ['budget'], secret: OTHER_SECRET } }, ANY);
    expect(patched.status).toBe(200);
    const shown = [text, patched.text, ...(await Promise.all(['/alerts', '/alerts/ops', '/audit'].map(read)))].join('');
    expect(shown).not.toMatch(/canary|whsec_/);
    expect(admin.logText()).not.toMatch(/canary|whsec_/);
    const { entities } = admin.gateway.state!.store!;
    const ref = { kind: 'alerts', id: 'ops' } as const;
    expect([await entities.unseal(ref, 'secret'), await entities.unseal(ref, 'url')]).toEqual([
      OTHER_SECRET,
      `${receiver.url}/hook/canary-path`,
    ]);
  }, 30_000);

  it('needs an address that can be reached and a secret that can sign, at each of its writes', async () => {
    const pointers = async (asked: Promise<Answer>): Promise<readonly string[]> => {
      const answer = await asked;
      expect(problem(answer)).toBe('422 invalid_body');
      expect(answer.text).not.toMatch(/canary|whsec_A/);
      return answer.json.errors.map(({ pointer }: { pointer: string }) => pointer).sort();
    };
    const create = (spec: object) => pointers(call('POST', '/alerts', { id: 'ops', spec }));
    expect(await create({ kinds: ['budget'] })).toEqual(['/spec/secret', '/spec/url']);
    expect(await create(webhookOf(receiver, { secret: 'whsec_AAAA' }))).toEqual(['/spec/secret']);
    expect(await create(webhookOf(receiver, { allow_insecure: false }))).toEqual(['/spec/url']);
    expect(await create(webhookOf(receiver, { url: 'http://169.254.169.254/canary' }))).toEqual(['/spec/url']);
    await call('POST', '/alerts', { id: 'ops', spec: webhookOf(receiver) });
    const patch = (spec: object) => pointers(call('PATCH', '/alerts/ops', { spec }, ANY));
    // The sealed address is checked with the rest.
    expect(await patch({ allow_insecure: false })).toEqual(['/spec/url']);
    expect(await patch({ url: null })).toEqual(['/spec/url']);
    // An import brings objects without what is sealed.
    const imported = { op: 'put', kind: 'alerts', id: 'imported', doc: {}, ifVersion: 0 } as const;
    await admin.gateway.state!.store!.entities.write([imported], { id: 'ann', role: 'admin' });
    await until(async () => (await read('/alerts')).includes('imported'), 'the object is there');
    const half = call('PATCH', '/alerts/imported', { spec: { secret: SECRET } }, ANY);
    expect(await pointers(half)).toEqual(['/spec/url']);
    const whole = { url: `${receiver.url}/canary`, secret: SECRET, allow_insecure: true };
    expect((await call('PATCH', '/alerts/imported', { spec: whole }, ANY)).status).toBe(200);
  });

  it('is refused where the store cannot seal it', async () => {
    await admin.close();
    admin = await startAdmin({ state: { encryption_keys: undefined } });
    token = await admin.token('admin');
    expect(problem(await call('POST', '/alerts', { id: 'ops', spec: webhookOf(receiver) }))).toBe('409 cannot_seal');
  });
});

const metrics = async (): Promise<string> => (await fetch(`${admin.gateway.status.url}/metrics`)).text();
const read = async (path: string): Promise<string> => (await call('GET', path)).text;
