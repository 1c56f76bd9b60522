import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchangesIn } from '../../src/addons/captures/file/recordings.ts';
import { chat, FILE_KEY, startAdmin, type AdminGateway } from '../admin/kit.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const SECRET = 'upstream-canary-key-0123456789';
const SHAPED = 'sk-canary-of-a-prompt-0123456789';

let admin: AdminGateway;
let upstream: ScriptedUpstream;
let owner: string;
beforeAll(async () => {
  // It quotes what it gets, as some do in their errors.
  upstream = await startUpstream((seen, res) =>
    seen.json['model'] === 'bad'
      ? json(res, { error: { message: `not with ${seen.headers.authorization}` } }, 400)
      : json(res, openaiReply(`You sent ${seen.headers.authorization}`)),
  );
  admin = await startAdmin({
    teams: { teams: { search: {} } },
    catalog: {
      providers: [
        { slug: 'up', provider: 'openai', api_key: '${env:UP}', base_url: `${upstream.url}/v1`, allow_insecure: true },
      ],
    },
    gateway: { default: { provider: '@up' } },
    env: { UP: SECRET },
    admin: { explain: 'all' },
  });
  owner = await admin.token('admin');
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
});

const ask = (method: string, path: string, body?: unknown, token = owner) => admin.ask(method, path, { body, token });
const start = async (body: object): Promise<string> => (await ask('POST', '/captures', body)).json.id;

describe('a capture', () => {
  it.each([
    ['a viewer', 'viewer', { content: true }, 'forbidden', 'role admin'],
    ['an operator', 'operator', { content: true }, 'forbidden', 'role admin'],
    ['an admin without the right to texts', 'admin', { content: false }, 'forbidden', '`content`'],
  ] as const)('of %s is refused at each call', async (_, role, more, code, words) => {
    const token = await admin.token(role, more);
    const id = await start({ requests: 1 });
    for (const [method, path] of [
      ['POST', '/captures'],
      ['GET', '/captures'],
      ['GET', `/captures/${id}`],
      ['DELETE', `/captures/${id}`],
    ] as const) {
      const { status, json: problem } = await ask(method, path, method === 'POST' ? {} : undefined, token);
      expect([status, problem.code, problem.detail]).toEqual([403, code, expect.stringContaining(words)]);
    }
    await ask('DELETE', `/captures/${id}`);
  });

  it.each<[string, object, string]>([
    ['too many requests', { requests: 101 }, 'invalid_body'],
    ['too many minutes', { minutes: 61 }, 'invalid_body'],
    ['no requests', { requests: 0 }, 'invalid_body'],
    ['an unknown field', { every: true }, 'invalid_body'],
    ['an unknown filter', { where: { user: 'ann' } }, 'invalid_query'],
    ['a filter of another form', { where: { status: 'many' } }, 'invalid_query'],
  ])('with %s is refused, and nothing begins', async (_, body, code) => {
    const { status, json: problem } = await ask('POST', '/captures', body);
    expect([status, problem.code]).toEqual([code === 'invalid_body' ? 422 : 400, code]);
    expect((await ask('GET', '/captures')).json.items).toEqual([]);
  });

  it('takes the requests whose records fit, and the audit has who started, fetched and ended it', async () => {
    const id = await start({ where: { status: '4xx' }, requests: 2, reason: 'a ticket' });
    await chat(admin, {}, { model: '@up/m' });
    await chat(admin, {}, { model: '@up/bad' });
    const { items } = (await ask('GET', '/captures')).json;
    expect(items).toMatchObject([{ id, state: 'running', captured: 1, requests: 2, too_large: 0 }]);
    const { text, headers } = await ask('GET', `/captures/${id}?reason=ticket`);
    expect(headers['content-disposition']).toBe(`attachment; filename="${id}.jsonl"`);
    expect(exchangesIn(text, 'f')).toMatchObject([
      {
        key: 'test',
        config: 'default',
        state: 'failed',
        calls: [{ reply: { status: 400 } }],
        reply: { status: 400 },
      },
    ]);
    expect((await ask('DELETE', `/captures/${id}`)).status).toBe(204);
    for (const [method, path] of [
      ['GET', `/captures/${id}`],
      ['DELETE', `/captures/${id}`],
    ] as const)
      expect((await ask(method, path)).status).toBe(404);
    const rows = (await ask('GET', '/audit?object_kind=captures')).json.items as Record<string, unknown>[];
    const own = rows.filter((row) => row['id'] === id || row['reason'] === 'a ticket');
    expect(own.map(({ action, reason }) => [action, reason])).toEqual([
      ['delete', null],
      ['read', 'ticket'],
      ['start', 'a ticket'],
    ]);
    expect(JSON.stringify(own.at(-1)!['after'])).toContain('4xx');
  });

  it('of a dry run is answered and does not begin, and one that a dry run ends goes on', async () => {
    const { status, json: planned } = await ask('POST', '/captures?dry_run=true', {
      requests: 2,
      reason: 'only asked',
    });
    expect([status, planned]).toEqual([201, expect.objectContaining({ state: 'running', requests: 2, captured: 0 })]);
    expect((await ask('GET', '/captures')).json.items).toEqual([]);
    const id = await start({ requests: 1 });
    expect((await ask('DELETE', `/captures/${id}?dry_run=true&reason=asked`)).status).toBe(204);
    expect((await ask('GET', '/captures')).json.items).toMatchObject([{ id, state: 'running' }]);
    expect((await ask('GET', '/audit?object_kind=captures')).text).not.toMatch(/"(?:only )?asked"/);
    await ask('DELETE', `/captures/${id}`);
  });

  it('has no credential: not of the caller, of the catalog, of the prompt, nor one that an upstream quotes', async () => {
    const id = await start({ requests: 2 });
    const messages = [{ role: 'user', content: `my key is ${SHAPED}` }];
    await chat(admin, { cookie: 'session=canary-cookie-0123456789' }, { model: '@up/m', messages });
    await chat(admin, {}, { model: '@up/bad', messages });
    const { text } = await ask('GET', `/captures/${id}`);
    expect(exchangesIn(text, 'f').map(({ calls }) => calls.length)).toEqual([1, 1]);
    for (const secret of [SECRET, FILE_KEY, SHAPED, 'canary-cookie-0123456789']) expect(text).not.toContain(secret);
    expect(text).toContain('*'.repeat(SHAPED.length));
    await ask('DELETE', `/captures/${id}`);
    expect(admin.logText()).not.toContain('my key is');
  });
});

describe('a request', () => {
  it('becomes a case that passes, without its texts and, with the right, with them', async () => {
    await chat(admin, { 'x-request-id': 'to-test', 'x-gateway-metadata': '{"tier":"free"}' }, { model: '@up/m' });
    const { json: made } = await ask('GET', '/requests/to-test/test', undefined, await admin.token('viewer'));
    expect(made).toMatchObject({ file: 'gateway/default.test.yaml', passes: true, notes: [] });
    expect(made.text).toContain('[text, 6 characters]');
    expect(made.text).toContain('status: 200');
    const yaml = await admin.ask('GET', '/requests/to-test/test?texts=true', {
      token: owner,
      headers: { accept: 'text/plain' },
    });
    expect(yaml.text).toContain('content: canary');
    expect(yaml.text).toContain('x-gateway-metadata: \'{"tier":"free"}\'');
    const refused = await ask('GET', '/requests/to-test/test?texts=true', undefined, await admin.token('viewer'));
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    expect(made.text).not.toContain(FILE_KEY);
  });

  it('becomes a command without its key', async () => {
    const { json: made } = await ask('GET', '/requests/to-test/curl', undefined, await admin.token('viewer'));
    expect(made.kept).toBe(true);
    expect(made.command).toContain('"x-gateway-api-key: $GATEWAY_KEY"');
    expect(made.command).toContain('[text, 6 characters]');
    for (const secret of [FILE_KEY, 'canary']) expect(made.command).not.toContain(secret);
  });

  it.each(['test', 'curl'])('that never came has no %s', async (what) => {
    expect((await ask('GET', `/requests/never/${what}`)).json.code).toBe('not_found');
  });
});
