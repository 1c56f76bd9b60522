import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizedUserJson } from '../../src/core/providers/vertex-ai/credentials.testkit.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { FILE_KEY, startAdmin, type AdminGateway } from './kit.ts';
import { openStream } from './live.testkit.ts';

const GOOD = 'sk-good-0123456789-abcdefghij';
const CATALOG = (url: string): string =>
  `# the providers\nproviders:\n  - slug: openai\n    provider: openai\n    base_url: ${url}/v1\n    allow_insecure: true\n    api_key: \${env:KEYS}\n    models: [gpt-4o, slow]\n`;
let upstream: ScriptedUpstream;
let admin: AdminGateway;

beforeAll(async () => {
  upstream = await startUpstream(({ url, headers, json: { model } }, res) => {
    if (headers.authorization === undefined || headers.authorization === 'Bearer sk-bad')
      return json(res, { error: { message: 'no such key' } }, 401);
    if (url === '/v1/models') return json(res, { data: [] });
    return model === 'slow' ? undefined : json(res, openaiReply('hello from the model'));
  });
  admin = await startAdmin({
    state: null,
    admin: { role: 'operator' },
    teams: { teams: { search: {} } },
    catalog: CATALOG(upstream.url),
    gateway: { default: { strategy: { mode: 'fallback' }, targets: [{ provider: '@openai' }] } },
  });
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
});

const ask = (method: string, path: string, body?: object) => admin.ask(method, path, body ? { body } : {});

describe('the providers', () => {
  it('have their place, their credential and the health of their targets', async () => {
    const { items } = (await ask('GET', '/providers')).json;
    expect(items).toMatchObject([
      {
        slug: 'openai',
        provider: 'openai',
        owner: 'catalog.yaml:3',
        credential: { kind: 'api_key', ref: '${env:KEYS}' },
        models: ['gpt-4o', 'slow'],
        spec: { api_key: '${env:KEYS}', allow_insecure: true },
        targets: [{ config: 'default', target: 'config.targets[0]', health: [{ state: 'closed', failed: 0 }] }],
      },
    ]);
    expect((await ask('GET', '/providers/openai')).json).toEqual(items[0]);
    expect((await ask('GET', '/providers/none')).status).toBe(404);
  });

  it('are of kinds whose schemas have what a form needs', async () => {
    const { items } = (await ask('GET', '/providers/kinds')).json;
    const openai = items.find(({ kind }: { kind: string }) => kind === 'openai');
    expect(openai).toMatchObject({
      secrets: ['api_key', 'secret_headers'],
      schema: { properties: { base_url: { type: 'string' } } },
    });
    expect(items.map(({ kind }: { kind: string }) => kind)).toContain('vertex-ai');
  });
});

async function test(body: object, { gateway } = admin) {
  const stream = await openStream(`${gateway.admin!.url}/admin/v1/providers:test`, {}, { method: 'POST', body });
  await stream.ended;
  return {
    status: stream.status,
    steps: stream.events.filter(({ event }) => event === 'step').map(({ data }) => [data.name, data.ok]),
    failed: stream.events.find(({ data }) => data.ok === false)?.data,
    done: stream.events.find(({ event }) => event === 'done')?.data,
    text: JSON.stringify(stream.events),
  };
}

describe('a test of an entry', () => {
  const entry = (more: object) => ({
    provider: 'openai',
    base_url: `${upstream.url}/v1`,
    allow_insecure: true,
    ...more,
  });

  it(
    'has a step for each check, up to a small call, and ends with the first that fails',
    { timeout: 60_000 },
    async () => {
      const good = await test({ entry: entry({ api_key: GOOD, models: ['gpt-4o'] }), call: true });
      expect(good.steps).toEqual([
        ['settings', true],
        ['address', true],
        ['dns', null],
        ['connect', true],
        ['token', true],
        ['clock', null],
        ['permission', true],
        ['call', true],
      ]);
      expect(good.done).toEqual({ ok: true });
      const bad = await test({ entry: entry({ api_key: 'sk-bad' }) });
      expect([bad.failed.name, bad.done]).toEqual(['permission', { ok: false }]);
      expect(bad.failed.message).toContain('no such key');
      expect(bad.failed.hint).toContain('Check the key');
      expect(good.text + bad.text).not.toContain(GOOD);
    },
  );

  it('finds the credentials of the machine that a saved entry names', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-machine-'));
    const google = await startUpstream(({ url }, res) =>
      json(res, url === '/token' ? { access_token: 'ya29.machine', expires_in: 3599 } : { models: [] }),
    );
    const token_uri = `${google.url}/token`;
    writeFileSync(join(folder, 'adc.json'), authorizedUserJson({ token_uri }));
    const other = await startAdmin({
      state: null,
      admin: { role: 'operator' },
      env: { GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'adc.json') },
      catalog: `providers:\n  - slug: vertex\n    provider: vertex-ai\n    region: global\n    project_id: my-project\n    credentials: application-default\n    base_url: ${google.url}\n    allow_insecure: true\n`,
      gateway: { default: { strategy: { mode: 'fallback' }, targets: [{ provider: '@vertex' }] } },
      server: { egress: { token_uris: [token_uri] } },
    });
    try {
      expect((await test({ slug: 'vertex' }, other)).steps).toContainEqual(['token', true]);
      expect(google.seen.map(({ url }) => url)).toContain('/token');
    } finally {
      await other.close();
      await google.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('stops at the egress guard and at a secret that belongs elsewhere, and is one of five a minute', async () => {
    const inside = await test({ entry: { ...entry({ api_key: GOOD }), allow_insecure: false } });
    expect(inside.failed).toMatchObject({ name: 'settings', message: expect.stringContaining('allow_insecure') });
    const elsewhere = await test({
      entry: { provider: 'openai', base_url: 'https://evil.example/v1', api_key: '${env:KEYS}' },
    });
    expect(elsewhere.failed).toMatchObject({
      name: 'settings',
      message: expect.stringContaining('${env:KEYS} is not read'),
    });
    expect((await test({ slug: 'openai' })).steps[0]).toEqual(['settings', true]);
    expect((await ask('POST', '/providers:test', { slug: 'openai' })).json).toMatchObject({ code: 'too_many_tests' });
    expect((await ask('POST', '/providers:test', {})).status).toBe(422);
  });
});

describe('a draft', () => {
  const apply = (patch: string, file: string): string => {
    writeFileSync(join(admin.configs, 'gatehouse.patch'), patch);
    const zero = /^@@ -\d+,0 /m.test(patch) ? ['--unidiff-zero'] : [];
    execFileSync('git', ['apply', ...zero, 'gatehouse.patch'], { cwd: admin.configs });
    return readFileSync(join(admin.configs, file), 'utf8');
  };

  it('of a provider is a patch that git applies, and the settings with it are in force after a reload', async () => {
    const spec = { provider: 'anthropic', api_key: '${env:KEYS}', models: ['claude-sonnet-5-5'] };
    const { json: draft } = await ask('POST', '/providers:draft', { id: 'claude', spec });
    expect(draft).toMatchObject({ file: 'catalog.yaml', set: ['export KEYS=…'], diagnostics: [] });
    expect(apply(draft.patch, 'catalog.yaml')).toBe(
      `${CATALOG(upstream.url)}  - slug: claude\n    provider: anthropic\n    api_key: \${env:KEYS}\n    models:\n      - claude-sonnet-5-5\n`,
    );
    // The watcher of the files may have been faster.
    expect(['changed', 'unchanged']).toContain((await admin.gateway.reload()).outcome);
    expect((await ask('GET', '/providers/claude')).status).toBe(200);
    expect((await ask('POST', '/providers:draft', { id: 'claude', spec })).json).toMatchObject({ code: 'exists' });
  });

  it('of a provider has the mistakes of the entry, and no secret', async () => {
    const { json: draft } = await ask('POST', '/providers:draft', {
      id: 'x',
      spec: { provider: 'openai', api_key: '${env:KEYS}', colour: 'red' },
    });
    expect(draft.diagnostics[0]).toMatchObject({ file: 'catalog.yaml', message: expect.stringContaining('colour') });
    const refused = await ask('POST', '/providers:draft', { id: 'x', spec: { provider: 'openai', api_key: GOOD } });
    expect([refused.status, refused.text.includes(GOOD)]).toEqual([422, false]);
  });

  it('of a key has its digest, and the key that it stands for is shown once and works', async () => {
    const { json: draft } = await ask('POST', '/keys:draft', { id: 'batch', spec: { team: 'search' } });
    expect(draft.patch).not.toContain(draft.key);
    apply(draft.patch, 'keys.yaml');
    // The watcher of files may have been first.
    await admin.gateway.reload();
    const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${draft.key}` },
      body: JSON.stringify({ model: '@openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
  });
});

describe('the playground', () => {
  const body = { model: '@openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] };

  it('sends a request as a key, which the records name', async () => {
    const reply = await ask('POST', '/playground', { as: 'test', body });
    expect([reply.status, reply.headers['x-gatehouse-status']]).toEqual([200, '200']);
    expect(reply.text).toContain('hello from the model');
    const { items } = (await ask('GET', '/requests?limit=1')).json;
    expect(items).toMatchObject([{ key_id: 'test', origin: 'playground', state: 'complete' }]);
    const played = `/requests/${items[0].request_id}`;
    expect((await ask('GET', played)).json).toMatchObject({ origin: 'playground' });
    // No caller's own request has it, whatever id the caller gives.
    const own = { authorization: `Bearer ${FILE_KEY}`, 'x-request-id': 'playground-of-a-caller' };
    const sent = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...own },
      body: JSON.stringify(body),
    });
    await sent.arrayBuffer();
    const of = (await ask('GET', '/requests?origin=playground')).json.items;
    expect(of.map(({ request_id: id }: { request_id: string }) => `/requests/${id}`)).toEqual([played]);
    expect((await ask('GET', '/requests?origin=x')).status).toBe(400);
    const refused = await ask('POST', '/playground', { as: 'test', body: { model: '@none/m', messages: [] } });
    expect([refused.status, refused.headers['x-gatehouse-status']]).toEqual([200, '400']);
  });

  it('takes no credential, and no key that is not there', async () => {
    for (const headers of [{ Authorization: 'x' }, { 'x-api-key': 'x' }, { cookie: 'x' }])
      expect((await ask('POST', '/playground', { as: 'test', headers, body })).status).toBe(422);
    expect((await ask('POST', '/playground', { as: 'none', body })).status).toBe(404);
  });

  it('ends the call of the upstream when its reader leaves', { timeout: 30_000 }, async () => {
    const url = `${admin.gateway.admin!.url}/admin/v1/playground`;
    const left = new AbortController();
    const asked = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ as: 'test', body: { ...body, model: '@openai/slow' } }),
      signal: left.signal,
    }).catch(() => {});
    const states = async (): Promise<string> => (await ask('GET', '/requests?limit=1')).json.items[0].state;
    while ((await states()) !== 'running') await new Promise((resolve) => setTimeout(resolve, 20));
    left.abort();
    await asked;
    while ((await states()) === 'running') await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await states()).toBe('aborted');
  });
});
