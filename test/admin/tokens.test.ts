import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { ADMIN_TOKEN, endStore, startAdmin, type AdminGateway, type AdminSetup, type Answer } from './kit.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(setup: AdminSetup = {}): Promise<AdminGateway> {
  const admin = await startAdmin(setup);
  closers.push(() => admin.close());
  return admin;
}

const problem = ({ status, json }: Answer): string => `${status} ${json.code}`;
const IN_MEMORY = { state: { store: { type: 'memory' } }, admin: { token: ADMIN_TOKEN, role: 'admin' } };

const ANY = { 'if-match': '*' };

/** The bootstrap token of a gateway that has started. The start ends only after the file is written or removed. */
function bootstrapOf({ folder }: AdminGateway): string {
  const file = join(folder, 'bootstrap-token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return readFileSync(file, 'utf8').trim();
}

describe('the bootstrap token', () => {
  it('creates the first admin token, does nothing else, and is void afterwards', async () => {
    const admin = await start();
    const bootstrap = bootstrapOf(admin);
    const create = (body: object): Promise<Answer> => admin.ask('POST', '/tokens', { token: bootstrap, body });
    expect(problem(await admin.ask('GET', '/keys', { token: bootstrap }))).toBe('403 forbidden');
    expect(problem(await admin.ask('POST', '/keys', { token: bootstrap, body: { id: 'x' } }))).toBe('403 forbidden');
    expect((await admin.ask('GET', '/requests', { token: bootstrap })).status).toBe(403);
    expect(problem(await create({ id: 'ann', role: 'viewer' }))).toBe('422 invalid_body');
    const made = await create({ id: 'ann', role: 'admin' });
    expect([made.status, made.json.object.updated_by]).toEqual([201, 'bootstrap']);
    expect(existsSync(join(admin.folder, 'bootstrap-token'))).toBe(false);
    expect(problem(await create({ id: 'bob', role: 'admin' }))).toBe('401 unauthorized');
    expect((await admin.ask('GET', '/whoami', { token: made.json.token })).json).toMatchObject({
      actor: 'token:ann',
      role: 'admin',
    });
    expect(admin.logText()).toContain('bootstrap-token');
    expect(admin.logText()).not.toContain(bootstrap);
  });

  it('is another one at each start until there is an admin, and none afterwards', async () => {
    let admin = await startAdmin();
    const first = bootstrapOf(admin);
    admin = await admin.restart();
    closers.push(() => admin.close());
    const second = bootstrapOf(admin);
    expect(second).not.toBe(first);
    expect(problem(await admin.ask('POST', '/tokens', { token: first, body: { id: 'ann', role: 'admin' } }))).toBe(
      '401 unauthorized',
    );
    await admin.token('admin');
    admin = await admin.restart();
    expect(existsSync(join(admin.folder, 'bootstrap-token'))).toBe(false);
  });
});

describe('a token', () => {
  it('ends at its expiry, which is at most 90 days away', async () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 22));
    const admin = await start({ clock, ...IN_MEMORY });
    const token = ADMIN_TOKEN;
    const create = (expires: string): Promise<Answer> =>
      admin.ask('POST', '/tokens', {
        token,
        body: { id: `t${expires.slice(0, 10)}`, role: 'viewer', expires_at: expires },
      });
    for (const wrong of ['2026-11-21T00:00:00Z', '2027-02-21T00:00:00Z', '2026-12-31T23:59:60Z'])
      expect(problem(await create(wrong))).toBe('422 invalid_body');
    const { json } = await create('2026-11-23T00:00:00Z');
    expect((await admin.ask('GET', '/keys', { token: json.token })).status).toBe(200);
    await clock.advance(86_400_000);
    expect(problem(await admin.ask('GET', '/keys', { token: json.token }))).toBe('401 unauthorized');
    expect((await admin.ask('GET', '/tokens/t2026-11-23', { token })).json.state).toBe('expired');
  });

  it('is void as soon as it is deleted', async () => {
    const admin = await start();
    const token = await admin.token('admin');
    const other = await admin.token('viewer', { id: 'bob' });
    expect((await admin.ask('GET', '/keys', { token: other })).status).toBe(200);
    expect((await admin.ask('DELETE', '/tokens/bob', { token, headers: ANY })).status).toBe(204);
    expect(problem(await admin.ask('GET', '/keys', { token: other }))).toBe('401 unauthorized');
    expect(problem(await admin.ask('POST', '/tokens', { token, body: { id: 'bob', role: 'viewer' } }))).toBe(
      '409 id_gone',
    );
  });

  it('reads and writes within its scopes, and gives no others', async () => {
    const admin = await start();
    const scoped = await admin.token('admin', { scopes: ['keys:write', 'tokens:write', 'usage:read'] });
    const ask = (method: string, path: string, body?: object): Promise<Answer> =>
      admin.ask(method, path, { token: scoped, ...(body && { body }) });
    expect([
      (await ask('GET', '/keys')).status,
      (await ask('GET', '/usage')).status,
      (await ask('POST', '/keys', { id: 'a' })).status,
    ]).toEqual([200, 200, 201]);
    expect([problem(await ask('GET', '/teams')), problem(await ask('GET', '/audit'))]).toEqual([
      '403 forbidden',
      '403 forbidden',
    ]);
    for (const scopes of [['teams:read'], ['usage:write']])
      expect(problem(await ask('POST', '/tokens', { id: 'b', role: 'admin', scopes }))).toBe('403 forbidden');
    expect((await ask('POST', '/tokens', { id: 'b', role: 'admin', scopes: ['keys:read'] })).status).toBe(201);
  });

  describe('made by a token with an end, networks and scopes', () => {
    const maker = {
      id: 'maker',
      role: 'admin',
      expires_at: '2026-11-22T00:01:00Z',
      networks: ['127.0.0.0/24', '10.0.0.0/8'],
      scopes: ['tokens:write', 'keys:read'],
    };
    async function startMaker() {
      const admin = await start({ clock: createFakeClock(Date.UTC(2026, 10, 22)), ...IN_MEMORY });
      const { json } = await admin.ask('POST', '/tokens', { token: ADMIN_TOKEN, body: maker });
      return (body: object, token = json.token): Promise<Answer> =>
        admin.ask('POST', '/tokens', { token, body: { role: 'admin', ...body } });
    }

    it('has these where it names none, also in the third generation', async () => {
      const make = await startMaker();
      const { status, json } = await make({ id: 'child' });
      const { networks, scopes } = maker;
      const inherited = { expires_at: '2026-11-22T00:01:00.000Z', networks, scopes };
      expect(status).toBe(201);
      expect(json.object).toMatchObject(inherited);
      expect((await make({ id: 'grandchild' }, json.token)).json.object).toMatchObject(inherited);
    });

    it('may have less of each', async () => {
      const make = await startMaker();
      const less = { expires_at: '2026-11-22T00:00:30.000Z', networks: ['10.1.0.0/16'], scopes: ['keys:read'] };
      expect((await make({ id: 'child', ...less })).json.object).toMatchObject(less);
    });

    it.each([
      ['end', { expires_at: '2026-11-22T00:01:01Z' }],
      ['networks', { networks: ['0.0.0.0/0'] }],
      ['networks', { networks: ['127.0.0.1/32', '10.0.0.0/7'] }],
      ['networks', { networks: ['::/0'] }],
      ['scopes', { scopes: ['keys:write'] }],
      [
        'scopes and networks and end',
        { expires_at: '2026-12-22T00:00:00Z', networks: ['::1/128'], scopes: ['audit:read'] },
      ],
    ])('cannot have a wider %s: %j', async (named, body) => {
      const make = await startMaker();
      const { status, json } = await make({ id: 'child', ...body });
      expect([status, json.code]).toEqual([403, 'forbidden']);
      expect(json.detail).toBe(`The ${named} of a new token must be within those of its creator.`);
    });
  });

  it('also opens the records, with any role', async () => {
    const admin = await start({ admin: { token: ADMIN_TOKEN } });
    const viewer = await admin.token('viewer');
    expect((await admin.ask('GET', '/requests', { token: viewer })).status).toBe(200);
    expect((await admin.ask('GET', '/requests', { token: 'gha_wrong' })).status).toBe(401);
    expect((await admin.ask('GET', '/requests')).status).toBe(401);
  });
});

describe('calls without a token of the store', () => {
  it('have the role of `admin.role`: from loopback, or with `admin.token` if there is one', async () => {
    const open = await start();
    expect((await open.ask('GET', '/whoami')).json).toMatchObject({ actor: 'loopback', role: 'viewer' });
    expect(problem(await open.ask('POST', '/keys', { body: { id: 'a' } }))).toBe('403 forbidden');
    const closed = await start({ admin: { token: ADMIN_TOKEN, role: 'admin' } });
    expect((await closed.ask('GET', '/whoami')).status).toBe(401);
    expect((await closed.ask('GET', '/whoami', { token: ADMIN_TOKEN })).json).toMatchObject({
      actor: 'admin.token',
      role: 'admin',
    });
    expect((await closed.ask('POST', '/keys', { token: ADMIN_TOKEN, body: { id: 'a' } })).status).toBe(201);
  });

  it('show the objects of files where there is no store, and write nothing', async () => {
    const admin = await start({ state: null, admin: { role: 'admin' } });
    expect((await admin.ask('GET', '/keys')).json.items).toMatchObject([{ id: 'test', owner: 'keys.yaml:2' }]);
    expect((await admin.ask('GET', '/budgets')).json.items).toMatchObject([
      { id: 'team:search:month:usd', spent: null },
    ]);
    for (const path of ['/usage', '/ledger', '/audit'])
      expect(problem(await admin.ask('GET', path))).toBe('409 no_store');
    expect(problem(await admin.ask('POST', '/keys', { body: { id: 'a' } }))).toBe('409 no_store');
    expect(problem(await admin.ask('GET', '/keys', { token: 'gha_x' }))).toBe('401 unauthorized');
  });

  it('write only kinds that the store owns', async () => {
    const admin = await start({ state: { owns: ['keys'] }, admin: { role: 'admin' } });
    expect(problem(await admin.ask('POST', '/teams', { body: { id: 'a' } }))).toBe('409 not_owned');
    expect((await admin.ask('POST', '/keys', { body: { id: 'a' } })).status).toBe(201);
  });
});

describe('wrong tokens', () => {
  it('are refused without being looked at after ten of an address within a minute', async () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 22));
    const admin = await start({ clock, ...IN_MEMORY });
    const token = ADMIN_TOKEN;
    const from = '127.0.0.9';
    for (let tries = 0; tries < 10; tries += 1)
      expect(problem(await admin.ask('DELETE', '/keys/a', { token: `gha_${tries}`, from, headers: ANY }))).toBe(
        '401 unauthorized',
      );
    const blocked = await admin.ask('GET', '/keys', { token, from });
    expect([problem(blocked), blocked.headers['retry-after']]).toEqual(['429 too_many_failures', '60']);
    expect((await admin.ask('GET', '/keys', { token })).status).toBe(200);
    await clock.advance(60_000);
    expect((await admin.ask('GET', '/keys', { token, from })).status).toBe(200);
    const refused = (await admin.ask('GET', '/audit?limit=200', { token })).json.items.filter(
      (row: { action: string }) => row.action === 'refused',
    );
    expect(refused.length).toBe(10);
  });

  it('keep no client of the same address out that has a token of the store', async () => {
    const admin = await start();
    const from = '127.0.0.9';
    const token = await admin.token('viewer');
    for (let tries = 0; tries < 12; tries += 1) await admin.ask('GET', '/keys', { token: `gha_${tries}`, from });
    expect((await admin.ask('GET', '/keys', { token, from })).status).toBe(200);
    for (const wrong of ['gha_x', `${token}x`, 'guess'])
      expect(problem(await admin.ask('GET', '/keys', { token: wrong, from }))).toBe('429 too_many_failures');
  });

  it('fill the audit with 60 rows a minute at most, and hide no refusal of a valid token', async () => {
    const admin = await start();
    const token = await admin.token('admin');
    const viewer = await admin.token('viewer');
    for (let tries = 0; tries < 80; tries += 1)
      await admin.ask('DELETE', '/keys/a', { token: 'gha_no', from: `127.0.1.${tries + 1}` });
    await admin.ask('DELETE', '/keys/a', { token: viewer });
    const items = (await admin.ask('GET', '/audit?limit=200', { token })).json.items as {
      action: string;
      actor: string;
    }[];
    const refused = items.filter(({ action }) => action === 'refused').map(({ actor }) => actor);
    expect([refused.length, refused.filter((actor) => actor !== 'unknown').length]).toEqual([61, 1]);
  });
});

describe('a store that does not answer', () => {
  it('makes the API answer 503, while requests with keys of files and of the store are served', async () => {
    const admin = await start();
    const token = await admin.token('admin');
    await endStore(admin);
    for (const [method, path] of [
      ['GET', '/keys'],
      ['GET', '/usage'],
      ['DELETE', '/keys/a'],
    ] as const) {
      const answer = await admin.ask(method, path, { token, headers: ANY });
      expect([problem(answer), answer.headers['retry-after']]).toEqual(['503 store_unavailable', '5']);
    }
    expect((await admin.ask('GET', '/requests', { token })).status).toBe(503);
    expect(
      (
        await fetch(`${admin.gateway.data.url}/v1/models`, {
          headers: { authorization: 'Bearer gatehouse-test-key-0123456789' },
        })
      ).status,
    ).toBe(200);
  });
});
