import type { AdminRoute } from '../../src/addons/admin/api/admin-route.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES } from '../../src/addons/admin/api/roles.ts';
import { isWrite, resourceOf, type OperationId } from '../../src/addons/admin/api/routes.ts';
import { BUILT, CALLS, CREATED_KINDS, releasePrompt, sampleOf } from './calls.ts';
import { ADMIN_TOKEN, chat, startAdmin, type AdminGateway, type Answer, type Asked } from './kit.ts';

let admin: AdminGateway;
const tokens: Record<string, string> = {};
let network = 1;
let explainId: string;
let capture: string;

beforeAll(async () => {
  admin = await startAdmin({
    admin: { token: ADMIN_TOKEN, role: 'operator', hosts: ['console.internal'] },
    gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } },
  });
  explainId = (await chat(admin, { 'x-request-id': 'served' })).headers.get('x-gateway-explain-id')!;
  for (const role of ROLES) tokens[role] = await admin.token(role);
  tokens['usage'] = await admin.token('admin', { scopes: ['usage:read'] });
  tokens['elsewhere'] = await admin.token('admin', { networks: ['10.0.0.0/8'] });
  await admin.ask('POST', '/teams', { token: tokens['admin'], body: { id: 'used' } });
  for (const kind of CREATED_KINDS)
    await admin.ask('POST', `/${kind}`, { token: tokens['admin'], body: sampleOf(kind, 'own', 'team:used') });
  await releasePrompt(admin, tokens['admin']!, 'own');
  capture = (await admin.ask('POST', '/captures', { token: tokens['admin'], body: { minutes: 60 } })).json.id;
});
afterAll(() => admin.close());

const versionOf = async (): Promise<number> => (await admin.gateway.state!.store!.entities.load(0)).version;

/** Each is another client: wrong tokens are counted by address. */
const nextAddress = (): string => `127.0.${network >> 6}.${(network++ % 64) + 2}`;

function ask(id: OperationId, { method, changes }: AdminRoute, asked: Asked = {}, query = ''): Promise<Answer> {
  const { path, body } = CALLS[id];
  const headers = changes ? { 'if-match': '*' } : {};
  const named =
    body &&
    JSON.parse(
      JSON.stringify(body)
        .replace('NEW', 'fresh')
        .replace('TOKEN', asked.token ?? 'none'),
    );
  return admin.ask(
    method,
    withQuery(
      path.replace('EXPLAIN_ID', explainId).replace('ID', resourceOf(id) === 'captures' ? capture : 'own'),
      query,
    ),
    {
      body: named,
      ...asked,
      headers: { ...headers, ...asked.headers },
    },
  );
}

const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;

const problem = ({ status, json }: Answer): string => `${status} ${json.code}`;

describe.each(BUILT)('%s', (id, route) => {
  const least = ROLES.indexOf(route.role);

  it('is refused without a valid token and with too little role, and changes nothing', async () => {
    const version = await versionOf();
    const from = nextAddress();
    expect(problem(await ask(id, route, { from }))).toBe('401 unauthorized');
    for (const wrong of ['gha_wrong', `${tokens['admin']}x`, 'ghb_wrong', 'nonsense'])
      expect(problem(await ask(id, route, { from, token: wrong }))).toBe('401 unauthorized');
    for (const role of ROLES.slice(0, least))
      expect(problem(await ask(id, route, { token: tokens[role] }))).toBe('403 forbidden');
    expect(problem(await ask(id, route, { token: tokens['elsewhere'] }))).toBe('403 forbidden');
    if (!['usage', 'whoami', 'replicas', 'openapi', 'session'].includes(resourceOf(id)))
      expect(problem(await ask(id, route, { token: tokens['usage'] }))).toBe('403 forbidden');
    expect(await versionOf()).toBe(version);
  });

  it.skipIf(route.streams !== undefined && route.method === 'GET')('answers each role that may call it', async () => {
    for (const role of ROLES.slice(least)) {
      const { status, text } = await ask(id, route, { token: tokens[role] }, isWrite(route) ? 'dry_run=true' : '');
      expect([status, text]).toEqual([route.status, expect.anything()]);
    }
  });

  it('refuses a query, a body and headers that it does not know, and changes nothing', async () => {
    const version = await versionOf();
    const token = tokens['admin'];
    for (const query of ['colour=red', 'limit=0', 'limit=1001', 'dry_run=yes', 'cursor=abc', 'texts=perhaps'])
      expect(problem(await ask(id, route, { token }, query))).toBe('400 invalid_query');
    if (route.body !== undefined) await refusesBodies(id, route, token!);
    if (route.changes) await refusesPreconditions(id, route, token!);
    expect(await versionOf()).toBe(version);
  });
});

async function refusesBodies(id: OperationId, route: AdminRoute, token: string): Promise<void> {
  const bodies: [string, unknown, Record<string, string>][] = [
    ['422 invalid_body', { ...CALLS[id].body, colour: 'red' }, {}],
    ['422 invalid_body', { ...CALLS[id].body, reason: 'x'.repeat(501) }, {}],
    ['400 invalid_json', '{"a":', {}],
    ['400 invalid_json', '[]', {}],
    ['400 invalid_json', `{"spec":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}],
    ['413 too_large', `{"reason":"${'x'.repeat(route.explains || route.large ? 2_000_000 : 200_000)}"}`, {}],
    ['415 unsupported_media_type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ];
  for (const [wanted, body, headers] of bodies)
    expect([problem(await ask(id, route, { token, body, headers })), body]).toEqual([wanted, body]);
  if (route.method === 'POST' && isWrite(route))
    expect(problem(await ask(id, route, { token, headers: { 'idempotency-key': 'with space' } }))).toBe(
      '400 invalid_header',
    );
}

async function refusesPreconditions(id: OperationId, route: AdminRoute, token: string): Promise<void> {
  const { path, body } = CALLS[id];
  const target = path.replace('ID', 'own');
  expect(problem(await admin.ask(route.method, target, { token, body }))).toBe('428 precondition_required');
  for (const stale of ['"0"', 'W/"1"', '"file-0000000000000000"'])
    expect(problem(await ask(id, route, { token, headers: { 'if-match': stale } }))).toBe('412 precondition_failed');
  const none = await admin.ask(route.method, path.replace('ID', 'none').replace('team:search', 'team:none'), {
    token,
    body,
    headers: { 'if-match': '*' },
  });
  expect(problem(none)).toBe('404 not_found');
}

describe('a page of another origin', () => {
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin, cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:8788' },
    { origin: 'http://127.0.0.1' },
    { origin: 'https://127.0.0.1:8788', host: '127.0.0.1:8788' },
    { origin: 'http://localhost:8788', host: '127.0.0.1:8788' },
    { origin: 'http://127.0.0.1:8788/', host: '127.0.0.1:8788' },
    { origin: 'https://console.internal:8443', host: 'console.internal' },
  ];
  const own = [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://127.0.0.1:8788', host: '127.0.0.1:8788' },
    { origin: 'http://localhost', host: 'LOCALHOST' },
    { origin: 'https://console.internal', host: 'console.internal' },
  ];

  it('makes no browser call, so that nothing is read and no row is written', async () => {
    const token = tokens['admin'];
    const version = (await admin.ask('GET', '/audit?limit=1', { token })).json.items[0].seq as number;
    for (const headers of foreign)
      for (const path of ['/usage?format=csv', '/keys', '/requests', '/explain/x'])
        expect([(await admin.ask('GET', path, { token, headers })).status, headers]).toEqual([403, headers]);
    expect((await admin.ask('GET', '/audit?limit=1', { token })).json.items[0].seq).toBe(version);
    for (const headers of own) expect((await admin.ask('GET', '/keys', { token, headers })).status).toBe(200);
  });
});

describe('records and explanations', () => {
  it('need the scope `requests:read` of a token with scopes', async () => {
    const [within, without] = [
      await admin.token('viewer', { scopes: ['requests:read'] }),
      await admin.token('admin', { scopes: ['keys:write'] }),
    ];
    expect((await admin.ask('GET', '/requests', { token: within })).status).toBe(200);
    const asked = { token: without, body: { body: { model: 'm' } } };
    expect((await admin.ask('GET', '/requests', asked)).status).toBe(403);
    expect((await admin.ask('POST', '/explain', asked)).status).toBe(403);
  });
});
