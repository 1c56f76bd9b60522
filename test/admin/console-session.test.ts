import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, chat, send, startAdmin, type AdminGateway, type Answer } from './kit.ts';

let admin: AdminGateway;

beforeAll(async () => {
  admin = await startAdmin({
    teams: { teams: { search: {} } },
    admin: { token: ADMIN_TOKEN, role: 'operator', public_url: 'https://ops.example/gw', hosts: ['ops.example'] },
    gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } },
  });
});
afterAll(() => admin.close());

interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

async function signIn(token: string): Promise<Session & { readonly answer: Answer }> {
  const answer = await admin.ask('POST', '/session', { body: { token } });
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return { cookie: cookie.split(';')[0]!, csrf: answer.json.csrf as string, answer };
}

const ask = ({ cookie, csrf }: Partial<Session>, path = '/whoami', method = 'GET') =>
  admin.ask(method, path, { headers: { ...(cookie && { cookie }), ...(csrf && { 'x-gatehouse-csrf': csrf }) } });

describe('a session', () => {
  it('has two halves, neither of which opens anything alone', async () => {
    const { cookie, csrf, answer } = await signIn(ADMIN_TOKEN);
    expect(answer.headers['set-cookie']![0]).toMatch(
      /^__Host-gatehouse=[\w-]{43}; Path=\/; Max-Age=28[78]\d\d; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(answer.json).toMatchObject({ user: 'admin.token', role: 'operator', content: false, session: true });
    expect(answer.text).not.toContain(ADMIN_TOKEN);
    const other = await signIn(ADMIN_TOKEN);
    expect((await ask({ cookie, csrf })).json).toMatchObject({ actor: 'admin.token', role: 'operator' });
    for (const half of [{ cookie }, { csrf }, { cookie, csrf: other.csrf }, { cookie: other.cookie, csrf }, {}])
      expect([(await ask(half)).status, half]).toEqual([401, half]);
  });

  it('ends when its person signs out', async () => {
    const session = await signIn(ADMIN_TOKEN);
    const out = await ask(session, '/session', 'DELETE');
    expect([out.status, out.headers['set-cookie']]).toEqual([204, [expect.stringContaining('Max-Age=0')]]);
    expect((await ask(session)).status).toBe(401);
  });

  it('ends with its token, whose rights it has', async () => {
    const by = await admin.token('admin', { id: 'of-session', role: 'viewer' });
    const session = await signIn(by);
    expect((await ask(session)).json).toMatchObject({ actor: 'token:of-session', role: 'viewer' });
    const first = await admin.token('admin');
    const gone = await admin.ask('DELETE', '/tokens/of-session', { token: first, headers: { 'if-match': '*' } });
    expect(gone.status).toBe(204);
    expect((await ask(session)).status).toBe(401);
  });

  it('is not opened by a wrong token, the bootstrap token or a page of another origin', async () => {
    expect((await signIn('nonsense')).answer.json).toMatchObject({ code: 'unauthorized' });
    expect((await signIn('ghb_x')).answer.status).toBe(401);
    const foreign = await admin.ask('POST', '/session', {
      body: { token: ADMIN_TOKEN },
      headers: { origin: 'http://127.0.0.1:1' },
    });
    expect(foreign.json).toMatchObject({ code: 'foreign_page' });
  });
});

describe('the texts of a request', () => {
  it('take the right `content`, without which they are lengths', async () => {
    const id = (await chat(admin, {}, { messages: [{ role: 'user', content: 'canary of a prompt' }] })).headers.get(
      'x-gateway-explain-id',
    )!;
    const reader = await admin.token('viewer', { content: true });
    const [plain, text] = [
      await admin.ask('GET', `/explain/${id}`, { token: ADMIN_TOKEN }),
      await admin.ask('GET', `/explain/${id}`, { token: ADMIN_TOKEN, headers: { accept: 'text/plain' } }),
    ];
    expect(plain.text + text.text).not.toContain('canary');
    expect(plain.json.targets[0].body.messages).toEqual([{ role: 'user', content: '[text, 18 characters]' }]);
    const asked = `/explain/${id}?texts=true&reason=why`;
    expect((await admin.ask('GET', asked, { token: ADMIN_TOKEN })).json).toMatchObject({ code: 'forbidden' });
    const rows = async () => (await admin.ask('GET', '/audit?kind=requests', { token: reader })).status;
    expect(await rows()).toBe(400);
    const own = await admin.ask('GET', asked, { token: reader });
    expect(own.text).toContain('canary of a prompt');
    const { items } = (await admin.ask('GET', '/audit?object_kind=requests', { token: reader })).json;
    expect(items).toMatchObject([{ action: 'read', id, reason: 'why' }]);
  });

  it('can be supposed to be sent otherwise, still without its texts', async () => {
    const id = (await chat(admin)).headers.get('x-gateway-explain-id')!;
    const suppose = (body: object, query = '') => admin.ask('POST', `/explain${query}`, { token: ADMIN_TOKEN, body });
    const down = await suppose({ of: id, health: { config: 'open' }, headers: { 'x-gateway-metadata': '{"a":"b"}' } });
    expect(down.json).toMatchObject({ metadata: { a: 'b' }, targets: [{ health: { state: 'open' } }] });
    expect(down.text).not.toContain('canary');
    const edited = await suppose({
      of: id,
      settings: { 'gateway/default.yaml': 'provider: "@sim"\noverride_params: { model: other }\n' },
    });
    expect(edited.json.targets[0].provider).toMatchObject({ model: 'other' });
    expect((await suppose({ of: id, settings: { 'gateway/default.yaml': 'colour: red\n' } })).json).toMatchObject({
      code: 'invalid_body',
    });
    expect((await suppose({ of: id, settings: { '../keys.yaml': '' } })).status).toBe(422);
    expect((await suppose({ of: 'none' })).status).toBe(404);
    expect((await suppose({ of: id }, '?texts=true')).status).toBe(403);
  });
});

describe('the page', () => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    send(admin.gateway.admin!.url, 'GET', path, { headers });

  it('is found from the root by browsers, and programs get JSON there', async () => {
    expect((await get('/')).json).toMatchObject({ name: 'gatehouse' });
    const moved = await get('/', { accept: 'text/html,*/*' });
    expect([moved.status, moved.headers.location]).toEqual([302, './ui/']);
  });

  it('needs no token, runs no script of elsewhere and opens in no frame', async () => {
    const page = await get('/ui/', { 'sec-fetch-site': 'cross-site' });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain(
      "require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect((await get('/ui/', { 'if-none-match': String(page.headers.etag) })).status).toBe(304);
    for (const path of ['/ui/../package.json', '/ui/%2e%2e/x', '/ui/none.js', '/ui/.env'])
      expect([path, (await get(path)).status]).toEqual([path, 401]);
    expect((await get('/ui/', { host: 'evil.example' })).status).toBe(421);
  });
});
