import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../../src/core/settings/compile/api-keys.ts';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

let admin: AdminGateway;
let token: string;
beforeEach(async () => {
  admin = await startAdmin();
  token = await admin.token('admin');
});
afterEach(() => admin.close());

const ANY = { 'if-match': '*' };

function call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  return admin.ask(method, path, { token, ...(body && { body }), headers });
}

const problem = ({ status, json }: Answer): string => `${status} ${json.code}`;

async function statusWith(key: string): Promise<number> {
  const reply = await fetch(`${admin.gateway.data.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await reply.arrayBuffer();
  return reply.status;
}

/** A change reaches the requests soon after its answer. */
async function becomes(key: string, status: number): Promise<void> {
  const from = performance.now();
  while ((await statusWith(key)) !== status) {
    if (performance.now() - from > 10_000) throw new Error(`requests with the key never got ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a key of the API', () => {
  it('is valid for requests from its creation to its revocation, with both secrets while it is rotated', async () => {
    const { json: created, headers } = await call('POST', '/keys', { id: 'batch', spec: { team: 'search' } });
    await becomes(created.key, 200);
    const rotated = await call('POST', '/keys/batch:rotate', { overlap: '1h' }, { 'if-match': String(headers.etag) });
    await becomes(rotated.json.key, 200);
    expect(await statusWith(created.key)).toBe(200);
    const both = (await call('GET', '/keys/batch')).json;
    expect(both.credentials.map((one: { slot: number; last4: string }) => [one.slot, one.last4])).toEqual([
      [0, rotated.json.key.slice(-4)],
      [1, created.key.slice(-4)],
    ]);
    await call('POST', '/keys/batch:revoke', { which: 'previous' }, ANY);
    await becomes(created.key, 401);
    expect(await statusWith(rotated.json.key)).toBe(200);
    expect((await call('POST', '/keys/batch:revoke', {}, ANY)).json.state).toBe('revoked');
    await becomes(rotated.json.key, 401);
    expect(problem(await call('POST', '/keys/batch:rotate', {}, ANY))).toBe('409 key_revoked');
    expect(await statusWith(FILE_KEY)).toBe(200);
  });

  it('has digests with the first pepper of the settings, both of which are valid until the overlap of a rotation ends', async () => {
    await admin.close();
    const peppers = ['p2', 'p1'].map((name, index) => `${name}:${Buffer.alloc(32, index).toString('base64')}`);
    admin = await startAdmin({ state: { peppers: `\${env:NONE:-${peppers.join()}}` } });
    token = await admin.token('admin');
    const { json: created, headers } = await call('POST', '/keys', { id: 'batch' });
    await becomes(created.key, 200);
    const rotated = await call('POST', '/keys/batch:rotate', { overlap: '2s' }, { 'if-match': String(headers.etag) });
    await becomes(rotated.json.key, 200);
    expect(await statusWith(created.key)).toBe(200);
    const { changed } = await admin.gateway.state!.store!.entities.load(0);
    const digests = changed.find(({ id }) => id === 'batch')!.digests.map(({ digest }) => digest);
    expect(digests).toEqual([expect.stringMatching(/^hmac:p2:[0-9a-f]{64}$/), expect.stringMatching(/^hmac:p2:/)]);
    await becomes(created.key, 401);
    expect(await statusWith(rotated.json.key)).toBe(200);
    admin = await admin.restart();
    expect([await statusWith(rotated.json.key), await statusWith(created.key)]).toEqual([200, 401]);
  });

  it('has metadata that no header overrides, and an owner in the ledger', async () => {
    const spec = { owner: 'ann', metadata: { cost_center: '4711' } };
    const { json: created } = await call('POST', '/keys', { id: 'bound', spec });
    await becomes(created.key, 200);
    const ask = async (id: string): Promise<unknown> => {
      const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${created.key}`,
          'x-request-id': id,
          'x-gateway-metadata': JSON.stringify({ cost_center: 'other', ticket: '1' }),
        },
        body: JSON.stringify({ model: '@sim/m', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
      });
      const { error } = (await reply.json()) as { error?: { code: string } };
      return error?.code ?? reply.status;
    };
    expect(await ask('request-1')).toBe(200);
    const found = (await call('GET', '/requests')).text;
    expect(found).toContain('"metadata":{"cost_center":"4711","ticket":"1"}');
    await vi.waitFor(async () =>
      expect((await call('GET', '/ledger')).json.items).toMatchObject([{ key: 'bound', user: 'ann' }]),
    );
    const patched = await call('PATCH', '/keys/bound', { spec: { bound: 'strict', owner: 'bob' } }, ANY);
    expect(patched.status).toBe(200);
    await vi.waitFor(async () => expect(await ask('request-2')).toBe('metadata_rejected'), {
      interval: 50,
      timeout: 60_000,
    });
    expect((await call('GET', '/keys/bound')).json.spec).toMatchObject({ owner: 'bob', metadata: spec.metadata });
  });

  it('ends at its expiry, which a patch can move', async () => {
    const { json } = await call('POST', '/keys', { id: 'batch', spec: { expires_at: '2090-01-01T00:00:00Z' } });
    await becomes(json.key, 200);
    const patched = await call('PATCH', '/keys/batch', { spec: { expires_at: '2020-01-01T00:00:00Z' } }, ANY);
    expect([patched.json.state, patched.json.spec.expires_at]).toEqual(['expired', '2020-01-01T00:00:00.000Z']);
    await becomes(json.key, 401);
    await call('PATCH', '/keys/batch', { spec: { expires_at: null } }, ANY);
    await becomes(json.key, 200);
  });

  it('is not created where files have its id, nor under an id that exists or was deleted', async () => {
    const taken = await call('POST', '/keys', { id: 'test' });
    expect([problem(taken), taken.json.detail]).toEqual([
      '409 owned_by_files',
      'The key "test" is in keys.yaml:2: change it there.',
    ]);
    for (const [method, path] of [
      ['PATCH', '/keys/test'],
      ['DELETE', '/keys/test'],
      ['POST', '/keys/test:rotate'],
    ] as const) {
      const body = method === 'PATCH' ? { spec: { models: ['x'] } } : method === 'POST' ? {} : undefined;
      expect(problem(await call(method, path, body, ANY))).toBe('409 owned_by_files');
    }
    await call('POST', '/keys', { id: 'batch' });
    expect(problem(await call('POST', '/keys', { id: 'batch' }))).toBe('409 exists');
    expect((await call('DELETE', '/keys/batch', undefined, ANY)).status).toBe(204);
    expect(problem(await call('GET', '/keys/batch'))).toBe('404 not_found');
    expect(problem(await call('POST', '/keys', { id: 'batch' }))).toBe('409 id_gone');
  });

  it('names only what exists', async () => {
    const wrong = await call('POST', '/keys', {
      id: 'batch',
      spec: { team: 'serch', providers: ['@smi'], budgets: [{ cap: '1 USD', period: 'day', time_zone: 'Mars' }] },
    });
    expect([problem(wrong), wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer).sort()]).toEqual([
      '422 invalid_body',
      ['/spec/budgets/0/time_zone', '/spec/providers/0', '/spec/team'],
    ]);
    await call('POST', '/teams', { id: 'ads', spec: { organization: 'acme' } });
    expect((await call('POST', '/keys', { id: 'batch', spec: { team: 'ads' } })).status).toBe(201);
    expect(problem(await call('DELETE', '/teams/ads', undefined, ANY))).toBe('409 in_use');
    await call('PATCH', '/keys/batch', { spec: { team: null } }, ANY);
    expect((await call('DELETE', '/teams/ads', undefined, ANY)).status).toBe(204);
  });

  it('is listed with those of the files, page by page', async () => {
    for (const id of ['a', 'b', 'u', 'v', 'z'])
      await call('POST', '/keys', { id, spec: id === 'b' ? { team: 'search' } : {} });
    const ids: string[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const { json } = await call('GET', `/keys?limit=2${next === '' ? '' : `&cursor=${next}`}`);
      ids.push(...json.items.map(({ id, owner }: { id: string; owner: string }) => `${id} ${owner}`));
      next = json.next;
    }
    expect(ids).toEqual(['a store', 'b store', 'test keys.yaml:2', 'u store', 'v store', 'z store']);
    expect((await call('GET', '/keys?team=search')).json.items.map(({ id }: { id: string }) => id)).toEqual([
      'b',
      'test',
    ]);
  });

  it('is written once when two change it at the same time', async () => {
    const { headers } = await call('POST', '/keys', { id: 'batch' });
    const etag = { 'if-match': String(headers.etag) };
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((model) => call('PATCH', '/keys/batch', { spec: { models: [model] } }, etag)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  });
});

describe('a call with an Idempotency-Key', () => {
  const ID = { 'idempotency-key': '6f1c' };

  it('answers again as the first did, new secret included, also after a restart', async () => {
    const first = await call('POST', '/keys', { id: 'batch' }, ID);
    const again = await call('POST', '/keys', { id: 'batch' }, ID);
    expect([again.status, again.json, again.headers.etag, again.headers['idempotency-replayed']]).toEqual([
      201,
      first.json,
      first.headers.etag,
      'true',
    ]);
    expect(problem(await call('POST', '/keys', { id: 'other' }, ID))).toBe('422 idempotency_mismatch');
    expect(problem(await call('POST', '/teams', { id: 'batch' }, ID))).toBe('422 idempotency_mismatch');
    admin = await admin.restart();
    expect((await call('POST', '/keys', { id: 'batch' }, ID)).json).toEqual(first.json);
    const other = await admin.token('admin', {});
    expect(other).toBe(token);
  });

  it('is one of its caller, and no repetition of a refused call', async () => {
    const refused = await call('POST', '/keys', { id: 'batch', spec: { team: 'ads' } }, ID);
    expect(problem(refused)).toBe('422 invalid_body');
    await call('POST', '/teams', { id: 'ads' });
    expect((await call('POST', '/keys', { id: 'batch', spec: { team: 'ads' } }, ID)).status).toBe(201);
    const bob = await admin.token('admin', { scopes: ['keys:write'] });
    const his = await admin.ask('POST', '/keys', {
      token: bob,
      body: { id: 'batch', spec: { team: 'ads' } },
      headers: ID,
    });
    expect(problem(his)).toBe('409 exists');
  });

  it('is done once when it is sent twice at the same time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/keys', { id: 'batch' }, ID)));
    const done = answers.filter(({ status }) => status === 201);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ status }) => status !== 201).map(problem)).toEqual(
      answers.slice(done.length).map(() => '409 replay_in_progress'),
    );
  });
});

describe('a dry run', () => {
  it('answers what would be, and changes nothing', async () => {
    const made = await call('POST', '/keys?dry_run=true', { id: 'batch', spec: { models: ['x'] } });
    expect([made.status, made.json.key, made.json.object.spec]).toEqual([201, null, { models: ['x'] }]);
    expect(problem(await call('GET', '/keys/batch'))).toBe('404 not_found');
    await call('POST', '/keys', { id: 'batch' });
    const patched = await call('PATCH', '/keys/batch?dry_run=true', { spec: { models: ['y'] } }, ANY);
    expect(patched.json.spec).toEqual({ models: ['y'] });
    expect((await call('GET', '/keys/batch')).json.spec).toEqual({});
    expect((await call('POST', '/keys/batch:rotate?dry_run=true', {}, ANY)).json.key).toBeNull();
    expect((await call('DELETE', '/keys/batch?dry_run=true', undefined, ANY)).status).toBe(204);
    expect((await call('GET', '/keys/batch')).status).toBe(200);
    expect(problem(await call('POST', '/keys?dry_run=true', { id: 'batch' }))).toBe('409 exists');
  });
});

describe('the audit', () => {
  it('has every change and every refused write, with who, why, before and after, in an intact chain', async () => {
    const viewer = await admin.token('viewer');
    await call('POST', '/keys', { id: 'batch', reason: 'for the nightly job' });
    await call('PATCH', '/keys/batch', { spec: { models: ['x'] } }, ANY);
    await call('DELETE', '/keys/batch?reason=done', undefined, ANY);
    await admin.ask('DELETE', '/keys/batch', { token: viewer, headers: ANY });
    await admin.ask('DELETE', '/keys/batch', { token: 'gha_wrong', headers: ANY });
    await call('GET', '/usage?format=csv');
    const { json } = await call('GET', '/audit?limit=8');
    // The row of the start is written behind it.
    const rows = json.items.filter(({ kind }: { readonly kind: string }) => kind !== 'settings');
    const seen = rows.map((row: Record<string, unknown>) => [
      row['actor'],
      row['action'],
      `${row['kind']}/${row['id']}`,
      row['reason'],
    ]);
    const actor = expect.stringMatching(/^token:t-/);
    expect(seen.slice(0, 6)).toEqual([
      [actor, 'export', expect.stringMatching(/^usage\//), 'usage.list csv'],
      ['unknown', 'refused', 'keys/batch', 'keys.delete: unauthorized'],
      [actor, 'refused', 'keys/batch', 'keys.delete: forbidden'],
      [actor, 'delete', 'keys/batch', 'keys.delete: done'],
      [actor, 'put', 'keys/batch', 'keys.patch'],
      [actor, 'put', 'keys/batch', 'keys.create: for the nightly job'],
    ]);
    expect(rows[4]).toMatchObject({
      before: { doc: {} },
      after: { doc: { models: ['x'] } },
      address: '127.0.0.1',
      role: 'admin',
    });
    const verdict = (await call('GET', '/audit:verify')).json;
    expect(verdict).toMatchObject({ intact: true });
    const { seq, head } = verdict;
    expect((await call('GET', `/audit:verify?head=${seq}:${head}`)).json).toEqual(verdict);
    expect((await call('GET', `/audit:verify?head=${seq + 1}:${head}`)).json).toMatchObject({
      intact: false,
      at: seq + 1,
    });
    expect(problem(await call('GET', `/audit:verify?head=${head}`))).toBe('400 invalid_query');
    const page = (await call('GET', '/audit?object_kind=keys&object_id=batch&limit=2')).json;
    expect([page.items.length, typeof page.next]).toEqual([2, 'string']);
  });
});

describe('secrets', () => {
  it('are in the answer that creates them, and nowhere else', async () => {
    const made = await call('POST', '/keys', { id: 'batch' }, { 'idempotency-key': 'canary' });
    const rotated = await call('POST', '/keys/batch:rotate', {}, ANY);
    const other = await admin.token('operator', { id: 'canary' });
    const secrets = [token, other, made.json.key, rotated.json.key].flatMap((secret: string) => [
      secret,
      digestOf(secret),
      digestOf(secret).slice(7),
    ]);
    const answers = await Promise.all(
      [
        '/keys',
        '/keys/batch',
        '/tokens',
        '/tokens/canary',
        '/audit?limit=200',
        '/whoami',
        '/budgets',
        '/openapi.json',
      ].map((path) => call('GET', path)),
    );
    const shown = [...answers.map(({ text }) => text), admin.logText()].join('\n');
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    // The store has digests, and no secret in clear: not in the kept answers either.
    await admin.gateway.close();
    const stored = globSync(join(admin.folder, '**/*'))
      .map((file) => (existsSync(file) ? safeRead(file) : ''))
      .join('');
    expect([token, other, made.json.key, rotated.json.key].filter((secret) => stored.includes(secret))).toEqual([]);
  });
});

const safeRead = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};
