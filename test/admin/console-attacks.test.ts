import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { FILE_KEY, startAdmin, type AdminGateway } from './kit.ts';
import { openStream } from './live.testkit.ts';

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
  .trimEnd();
/** Of no vendor's shape. */
const OPAQUE = '0123456789abcdef0123456789abcdef';
const DIGEST = `sha256:${'ab'.repeat(32)}`;
const PROMPT = 'canary-prompt of a person';

const catalog = (url: string): string => `providers:
  - slug: openai
    provider: openai
    base_url: ${url}/v1
    allow_insecure: true
    api_key: 'it''s-quoted-${OPAQUE}'
    models: [gpt-4o]
  - slug: folded
    provider: openai
    base_url: ${url}/quotes/v1
    allow_insecure: true
    api_key: "\\x66olded-\\
      ${OPAQUE}"
  - slug: vertex
    provider: vertex-ai
    region: global
    service_account:
      client_email: a@my-project.iam.gserviceaccount.com
      project_id: my-project
      private_key: |
${PEM.split('\n')
  .map((line) => `        ${line}`)
  .join('\n')}
`;

let upstream: ScriptedUpstream;
let admin: AdminGateway;
let viewer: string;
let operator: string;
let reader: string;
let folder: string;
const authorized: string[] = [];

beforeAll(async () => {
  upstream = await startUpstream(({ url, headers }, res) => {
    authorized.push(headers.authorization ?? '');
    if (url.startsWith('/quotes'))
      return json(res, { error: { message: `${headers.authorization?.slice('Bearer '.length)} is no key` } }, 401);
    if (url === '/token') return json(res, { access_token: `machine-${OPAQUE}`, expires_in: 3599 });
    return json(res, openaiReply('hello'));
  });
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-attacks-'));
  const file = join(folder, 'machine.json');
  const token_uri = `${upstream.url}/token`;
  writeFileSync(
    file,
    JSON.stringify({
      type: 'service_account',
      client_email: 'm@x.iam.gserviceaccount.com',
      private_key: PEM,
      token_uri,
    }),
  );
  admin = await startAdmin({
    admin: { explain: 'all' },
    env: { GOOGLE_APPLICATION_CREDENTIALS: file },
    catalog: catalog(upstream.url),
    keys: `keys:\n  - id: test\n    key: ${FILE_KEY}\n    team: search\n  - id: other\n    team: search\n    digest: ${DIGEST}\n`,
    gateway: { default: { strategy: { mode: 'fallback' }, targets: [{ provider: '@openai' }] } },
    server: { egress: { token_uris: [token_uri] } },
  });
  [viewer, operator] = [await admin.token('viewer'), await admin.token('operator')];
  reader = await admin.token('operator', { content: true });
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (method: string, path: string, token: string, body?: object) =>
  admin.ask(method, path, { token, ...(body && { body }) });

async function test(body: object): Promise<string> {
  const stream = await openStream(
    `${admin.gateway.admin!.url}/admin/v1/providers:test`,
    { authorization: `Bearer ${await admin.token('admin')}` },
    { method: 'POST', body },
  );
  await stream.ended;
  return JSON.stringify(stream.events.map(({ data }) => data));
}

const send = (path: string, body: object) =>
  fetch(`${admin.gateway.data.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify(body),
  });

describe('a stream', () => {
  const url = (): string => `${admin.gateway.admin!.url}/admin/v1/stream`;
  const open = (token: string) => openStream(url(), { authorization: `Bearer ${token}` });
  const leave = (method: string, ms: number): Promise<void> =>
    new Promise((resolve) => {
      const call = request(url(), { method, agent: false, headers: { authorization: `Bearer ${viewer}` } });
      call.once('close', resolve).once('error', () => {});
      call.once('response', (reply) => reply.resume());
      call.end(() => void setTimeout(() => method === 'GET' && call.destroy(), ms));
    });

  it('takes a place only while it is read, and no caller takes the places of the others', async () => {
    for (let index = 0; index < 25; index += 1) await leave('HEAD', 0);
    for (let index = 0; index < 40; index += 1) await leave('GET', index % 8);
    const own: Awaited<ReturnType<typeof open>>[] = [];
    const more = async (): Promise<boolean> => {
      const one = await open(viewer);
      if (one.status === 200) own.push(one);
      return one.status === 200;
    };
    // The end of a connection may take a moment to be noticed.
    while (own.length < 20) await more();
    expect(await more()).toBe(false);
    const other = await open(operator);
    expect(other.status).toBe(200);
    await other.find(({ event }) => event === 'boot');
    for (const one of [...own, other]) one.close();
  });
});

describe('without the right to content', () => {
  it('kept responses of a key stay unread in the playground', async () => {
    const { id } = (await (await send('/v1/responses', { model: '@openai/gpt-4o', input: PROMPT })).json()) as {
      id: string;
    };
    const paths = [`/v1/responses/${id}/input_items`, `/v1/models/../responses/${id}/input_items`];
    const played = (token: string, path: string) =>
      ask('POST', '/playground', token, { as: 'test', method: 'GET', path });
    for (const path of paths) expect([path, (await played(operator, path)).status]).toEqual([path, 403]);
    const continued = { model: '@openai/gpt-4o', previous_response_id: id, input: 'repeat it' };
    const sent = { as: 'test', path: '/v1/responses', body: continued };
    expect((await ask('POST', '/playground', operator, sent)).status).toBe(403);
    expect((await ask('POST', '/playground', operator, { as: 'test', method: 'GET', path: '/v1/models' })).status).toBe(
      200,
    );
    expect((await played(reader, paths[0]!)).text).toContain(PROMPT);
    const { items } = (await ask('GET', '/audit?limit=5', await admin.token('admin'))).json;
    expect(items[0]).toMatchObject({ action: 'read', kind: 'requests' });
    // An explanation of such a request has the whole conversation.
    const explained = await ask('POST', '/explain', viewer, { key: 'test', path: '/v1/responses', body: continued });
    expect([explained.status, explained.text.includes(PROMPT)]).toEqual([200, false]);
  });

  it('no condition of an edited file tells the text of a kept request', async () => {
    const reply = await send('/v1/chat/completions', {
      model: '@openai/gpt-4o',
      messages: [{ role: 'user', content: PROMPT }],
    });
    await reply.text();
    const of = reply.headers.get('x-gateway-explain-id');
    const what = (field: string, token: string) =>
      ask('POST', '/explain', token, {
        of,
        settings: {
          'gateway/default.yaml': `strategy:\n  mode: conditional\n  conditions: [{ query: { ${field}: x }, then: a }]\n  default: a\ntargets: [{ name: a, provider: "@openai" }]\n`,
        },
      });
    for (const field of ['params.messages.0.content', String.raw`"params.\x6dessages.0.content"`])
      expect((await what(field, viewer)).status).toBe(403);
    expect((await what('params.user', viewer)).status).toBe(200);
    const read = await what('params.messages.0.content', reader);
    expect([read.status, read.text.includes(PROMPT)]).toEqual([200, false]);
  });
});

describe('secrets', () => {
  it('of the file are masked however YAML writes them', async () => {
    const { text } = await ask('GET', '/settings/file?path=catalog.yaml', viewer);
    expect(text).not.toContain(OPAQUE);
    expect(text).not.toContain(PEM.split('\n')[1]);
  });

  it('and digests are no context of a patch', async () => {
    const entry = { id: 'x', spec: { provider: 'openai', api_key: '${env:A}' } };
    const { patch } = (await ask('POST', '/providers:draft', operator, entry)).json;
    expect(patch).toContain('+  - slug: x');
    expect(patch).not.toMatch(/^ /m);
    const key = (await ask('POST', '/keys:draft', operator, { id: 'x', spec: {} })).json;
    expect(key.patch).not.toContain(DIGEST);
    const twice = { id: 'x', spec: { ...entry.spec, slug: 'openai' } };
    expect((await ask('POST', '/providers:draft', operator, twice)).status).toBe(422);
  });

  it('that a server quotes are not in the test of an entry, and those of the machine go to no address of a person', async () => {
    const quoted = await test({ slug: 'folded' });
    expect(quoted).toContain('[secret] is no key');
    expect(quoted).not.toContain(OPAQUE);
    authorized.length = 0;
    const vertex = {
      provider: 'vertex-ai',
      region: 'global',
      project_id: 'my-project',
      base_url: `${upstream.url}/evil`,
      allow_insecure: true,
    };
    const found = await test({ entry: { ...vertex, credentials: 'application-default' } });
    expect(found).toContain('base_url');
    const federated = JSON.stringify({
      type: 'external_account',
      audience: '//iam.googleapis.com/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${upstream.url}/token`,
      credential_source: { file: '/etc/hostname' },
    });
    expect(await test({ entry: { ...vertex, credentials_json: federated } })).toContain('names a file of the machine');
    const token = await admin.token('admin');
    for (const more of [{ credentials: 'metadata-server' }, { credentials_json: federated }])
      expect((await ask('POST', '/providers', token, { id: 'evil', spec: { ...vertex, ...more } })).status).toBe(422);
    expect(authorized).toEqual([]);
  });
});

it('The person behind a proxy is not the operator of this machine', async () => {
  const alone = await startAdmin({ state: null, teams: { teams: { search: {} } } });
  try {
    expect((await alone.ask('GET', '/whoami')).status).toBe(200);
    for (const headers of [
      { 'x-forwarded-for': '198.51.100.7' },
      { forwarded: 'for=198.51.100.7' },
      { via: '1.1 edge' },
    ])
      expect([headers, (await alone.ask('GET', '/whoami', { headers })).status]).toEqual([headers, 401]);
  } finally {
    await alone.close();
  }
});
