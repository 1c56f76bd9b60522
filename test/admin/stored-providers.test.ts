import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadWithStore } from '../../src/addons/budgets/cli/state/load-with-store.ts';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { entrySpec, FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

const SECRET = 'sk-canary-of-the-store-0123456789';
const OTHER = 'sk-another-of-the-store-0123456789';
const ANY = { 'if-match': '*' };
let upstream: ScriptedUpstream;
let admin: AdminGateway;
let token: string;
let keys: string[];

beforeEach(async () => {
  keys = [];
  upstream = await startUpstream(({ headers }, res) => {
    keys.push(String(headers.authorization));
    json(res, openaiReply('hello'));
  });
  admin = await startAdmin({ teams: { teams: { search: {} } }, gateway: { default: {} } });
  token = await admin.token('admin');
});
afterEach(async () => {
  await admin.close();
  await upstream.close();
});

const call = (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
  admin.ask(method, path, { token, ...(body && { body }), headers });

const spec = (more: object = {}): object => entrySpec(upstream.url, { api_key: SECRET, ...more });

const create = (id = 'openai', more: object = {}): Promise<Answer> =>
  call('POST', '/providers', { id, spec: spec(more) });

async function statusOf(model: string): Promise<number> {
  const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

/** Everything that the store has on disk. */
const onDisk = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .map(textOf)
    .join('');

/** Empty for a folder, and for a journal that was removed since. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

describe('an entry of the catalog that the store has', () => {
  it('serves at once, is sealed on disk, shown without its secret, in the audit, and there after a restart', async () => {
    const created = await create();
    expect([created.status, created.json]).toMatchObject([
      201,
      { slug: 'openai', owner: 'store', credential: { kind: 'api_key', last4: SECRET.slice(-4) }, models: ['gpt-5'] },
    ]);
    expect(created.json.spec.api_key).toBeUndefined();
    expect([await statusOf('@openai/gpt-5'), keys]).toEqual([200, [`Bearer ${SECRET}`]]);
    const { items } = (await call('GET', '/providers')).json;
    expect(items.map(({ slug, owner }: { slug: string; owner: string }) => [slug, owner])).toEqual([
      ['openai', 'store'],
      ['sim', 'catalog.yaml:2'],
    ]);
    const { items: audit, text } = { ...(await call('GET', '/audit?object_kind=providers')).json, text: '' };
    expect(audit).toMatchObject([{ action: 'put', kind: 'providers', id: 'openai' }]);
    expect(JSON.stringify([audit, text, created.json, items]) + onDisk(admin.folder) + admin.logText()).not.toContain(
      SECRET,
    );
    admin = await admin.restart();
    expect([await statusOf('@openai/gpt-5'), keys.at(-1)]).toEqual([200, `Bearer ${SECRET}`]);
  });

  it('is changed and deleted with its ETag; a change that names no secret keeps it', async () => {
    const { etag } = (await create()).json;
    const changed = await call(
      'PATCH',
      '/providers/openai',
      { spec: { models: ['gpt-5', 'o3'] } },
      { 'if-match': etag },
    );
    expect([changed.status, changed.json.models]).toEqual([200, ['gpt-5', 'o3']]);
    expect([await statusOf('@openai/o3'), keys.at(-1)]).toEqual([200, `Bearer ${SECRET}`]);
    const stale = await call('PATCH', '/providers/openai', { spec: { api_key: OTHER } }, { 'if-match': etag });
    expect(stale.status).toBe(412);
    expect((await call('PATCH', '/providers/openai', { spec: { api_key: OTHER } }, ANY)).status).toBe(200);
    expect([await statusOf('@openai/o3'), keys.at(-1)]).toEqual([200, `Bearer ${OTHER}`]);
    expect((await call('DELETE', '/providers/openai', undefined, ANY)).status).toBe(204);
    expect([await statusOf('@openai/o3'), (await call('GET', '/providers/openai')).status]).toEqual([400, 404]);
  });

  it('costs one reload of the settings for each write', async () => {
    const reloads = (): number => admin.logText().split(/"msg":"settings (?:reloaded|read again)/).length - 1;
    const before = reloads();
    expect((await create()).status).toBe(201);
    expect(reloads() - before).toBe(1);
    expect((await call('PATCH', '/providers/openai', { spec: { models: ['o3'] } }, ANY)).status).toBe(200);
    expect((await call('DELETE', '/providers/openai', undefined, ANY)).status).toBe(204);
    // A reload that a write has caused is over before this one begins.
    expect(await admin.gateway.reload()).toMatchObject({ outcome: 'unchanged' });
    expect(reloads() - before).toBe(4);
  });

  it('that is wrong is a 422 with the diagnostics, and nothing has changed', async () => {
    const { hash } = (await call('GET', '/settings')).json;
    const unknown = await create('x', { colour: 'red' });
    expect([unknown.status, unknown.json]).toMatchObject([
      422,
      { code: 'settings_refused', errors: [{ pointer: '/spec', message: expect.stringContaining('colour') }] },
    ]);
    const inside = await create('x', { allow_insecure: false });
    expect([inside.status, inside.text.includes('allow_insecure')]).toEqual([422, true]);
    expect((await create('x', { api_key: '${env:KEYS}' })).json).toMatchObject({
      code: 'invalid_body',
      errors: [{ pointer: '/spec/api_key' }],
    });
    expect((await create('sim')).json).toMatchObject({
      code: 'owned_by_files',
      detail: expect.stringContaining('catalog.yaml:2'),
    });
    expect((await call('POST', '/providers?dry_run=true', { id: 'x', spec: spec() })).status).toBe(201);
    const after = (await call('GET', '/settings')).json;
    expect([after.hash, after.reload.ok, (await call('GET', '/providers/x')).status]).toEqual([hash, true, 404]);
    expect((await call('GET', '/audit?object_kind=providers')).json.items).toEqual([]);
    expect((await create('x')).status).toBe(201);
  });

  it('stays while a config names it, and one in a file of the same name is refused with its place', async () => {
    await create();
    writeFileSync(join(admin.configs, 'gateway/named.yaml'), 'provider: "@openai"\n');
    expect(await admin.gateway.reload()).not.toMatchObject({ outcome: 'refused' });
    const refused = await call('DELETE', '/providers/openai', undefined, ANY);
    expect([refused.status, refused.json.errors[0].message]).toEqual([
      422,
      expect.stringContaining('gateway/named.yaml:1'),
    ]);
    expect(await statusOf('@openai/gpt-5')).toBe(200);
    // A command that only checks opens no secret.
    const checked = await loadWithStore(admin.configs, { KEYS });
    expect(checked.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(checked.settings!.catalog.providers.map(({ slug }) => slug)).toEqual(['sim', 'openai']);
    admin = await admin.restart();
    expect(await statusOf('@openai/gpt-5')).toBe(200);
    const catalog = readFileSync(join(admin.configs, 'catalog.yaml'), 'utf8');
    writeFileSync(join(admin.configs, 'catalog.yaml'), `${catalog}  - slug: openai\n    provider: simulator\n`);
    expect(await admin.gateway.reload()).toMatchObject({
      outcome: 'refused',
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ line: 4, message: expect.stringContaining('is also in the store (by ') }),
      ]),
    });
  });

  it('serves from the snapshot while the store does not answer at a start', async () => {
    await create();
    await admin.gateway.close();
    rmSync(join(admin.folder, 'state.db'));
    mkdirSync(join(admin.folder, 'state.db'));
    expect(onDisk(admin.folder)).not.toContain(SECRET);
    admin = await admin.restart();
    expect([await statusOf('@openai/gpt-5'), keys.at(-1)]).toEqual([200, `Bearer ${SECRET}`]);
    expect((await create('x')).status).toBe(503);
  });

  it('may name shared credentials of catalog.yaml, which go to no address of its own', async () => {
    const shared = (url: string, name = 'main'): object => ({ base_url: url, credentials: name, api_key: undefined });
    const file = join(admin.configs, 'catalog.yaml');
    const known = `${upstream.url}/v1`;
    const catalog = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      `credentials:\n  main: { api_key: ${SECRET} }\n${catalog}  - { slug: known, provider: openai, base_url: ${known}, allow_insecure: true }\n`,
    );
    const areUnused = async (): Promise<boolean> =>
      JSON.stringify(await admin.gateway.reload()).includes('no entry uses these credentials');
    expect(await areUnused()).toBe(true);
    const unknown = await create('x', shared(known, 'mian'));
    expect([unknown.status, unknown.json.errors]).toEqual([
      422,
      [{ pointer: '/spec', message: '`credentials` must be a name in `credentials` of catalog.yaml, not "mian"' }],
    ]);
    const elsewhere = await create('x', shared(`${upstream.url}/elsewhere`));
    expect([elsewhere.status, elsewhere.json.errors[0]]).toEqual([
      422,
      { pointer: '/spec', message: expect.stringContaining('`base_url` is that of no entry of catalog.yaml') },
    ]);
    const created = await create('x', shared(known));
    expect([created.status, created.json]).toMatchObject([201, { slug: 'x', credential: { kind: 'api_key' } }]);
    expect([created.json.spec.credentials, created.text.includes(SECRET)]).toEqual(['main', false]);
    expect([await statusOf('@x/gpt-5'), keys]).toEqual([200, [`Bearer ${SECRET}`]]);
    expect(await areUnused()).toBe(false);
    // The file may give them another value.
    writeFileSync(file, readFileSync(file, 'utf8').replace(SECRET, OTHER));
    // The watcher of the files may have been faster.
    expect(['changed', 'unchanged']).toContain((await admin.gateway.reload()).outcome);
    expect([await statusOf('@x/gpt-5'), keys.at(-1)]).toEqual([200, `Bearer ${OTHER}`]);
    expect(onDisk(admin.folder) + admin.logText()).not.toContain(OTHER);
  });

  it('is tested with shared credentials before it is saved, at no address but those of catalog.yaml', async () => {
    const file = join(admin.configs, 'catalog.yaml');
    const known = `${upstream.url}/v1`;
    writeFileSync(
      file,
      `credentials:\n  main: { api_key: ${SECRET} }\n${readFileSync(file, 'utf8')}  - { slug: known, provider: openai, base_url: ${known}, allow_insecure: true }\n`,
    );
    await admin.gateway.reload();
    const { items } = (await call('GET', '/providers/kinds')).json;
    const takers = items.filter(({ shared }: { shared: readonly string[] }) => shared.includes('main'));
    const kinds = takers.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['openai', 'anthropic']));
    // Its own key goes there, so an address of the store is none of the file.
    expect((await create('own', { base_url: `${upstream.url}/elsewhere` })).status).toBe(201);
    const tested = async (url: string, name = 'main'): Promise<string> => {
      const entry = spec({ base_url: url, credentials: name, api_key: undefined });
      return (await call('POST', '/providers:test', { entry, call: true })).text;
    };
    expect(await tested(known)).toContain('gpt-5 has answered');
    // The step that connects sends no credential.
    expect([...new Set(keys)].sort()).toEqual([`Bearer ${SECRET}`, 'undefined']);
    keys = [];
    for (const place of ['elsewhere', 'v1/'])
      expect(await tested(`${upstream.url}/${place}`)).toContain('`base_url` is that of no entry of catalog.yaml');
    expect(await tested(known, 'mian')).toContain('must be a name in `credentials` of catalog.yaml');
    expect([keys, admin.logText().includes(SECRET)]).toEqual([[], false]);
  });

  it('is written by admins only, tested by operators, and named in the what-if of explain', async () => {
    for (const role of ['viewer', 'operator'] as const) {
      const own = await admin.token(role);
      // With a store, an entry that is not saved is for admins to test.
      const tested = await admin.ask('POST', '/providers:test', { token: own, body: { entry: spec() } });
      expect([tested.status, tested.json.code]).toEqual([403, 'forbidden']);
      expect((await admin.ask('POST', '/providers', { token: own, body: { id: 'x', spec: spec() } })).status).toBe(403);
    }
    await create();
    const explained = await call('POST', '/explain', { key: 'test', body: { model: '@openai/gpt-5', messages: [] } });
    expect([explained.status, explained.text.includes(SECRET)]).toEqual([200, false]);
    expect(explained.json.targets[0].provider).toMatchObject({ slug: 'openai' });
  });
});

describe('a store without encryption keys', () => {
  it('takes no credential, with the lines to set, and an entry without one', async () => {
    await admin.close();
    admin = await startAdmin({
      teams: { teams: { search: {} } },
      gateway: { default: {} },
      state: { encryption_keys: undefined },
    });
    token = await admin.token('admin');
    const refused = await create();
    expect([refused.status, refused.json]).toMatchObject([
      409,
      { code: 'cannot_seal', detail: expect.stringContaining('encryption_keys: ${env:GATEHOUSE_ENCRYPTION_KEYS}') },
    ]);
    expect((await call('POST', '/providers', { id: 's2', spec: { provider: 'simulator' } })).status).toBe(201);
    expect(await statusOf('@s2/m')).toBe(200);
  });
});
