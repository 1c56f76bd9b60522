import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { FILE_KEY, startAdmin, type AdminGateway } from '../admin/kit.ts';
import { anthropicEvents, geminiReply, json, openaiReply, sse, startUpstream } from '../support/upstream.ts';

/** Secrets of settings and of callers; those that the gateway itself makes join them. */
const privateKey = testPrivateKey();
const CANARIES: Readonly<Record<string, string>> = {
  gatewayKey: FILE_KEY,
  vendorKey: 'canary-vendor-key-55ab02',
  secretHeader: 'canary-secret-header-1c93f0',
  accessToken: 'canary-access-token-e10c77',
  callerToken: 'canary-caller-token-90dd4e',
  privateKey: privateKey.split('\n')[3]!,
  encryptionKey: KEYS.split(':')[1]!,
  pepper: Buffer.alloc(32, 3).toString('base64'),
  fileWebhook: `whsec_${Buffer.alloc(32, 4).toString('base64')}`,
  fileWebhookPath: 'canary-path-of-the-file',
  storeWebhook: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
  otherStoreWebhook: `whsec_${Buffer.alloc(32, 6).toString('base64')}`,
  storeWebhookPath: 'canary-path-of-the-store',
  storedProvider: 'canary-key-of-an-entry-in-the-store-4b21d7',
  storedHeader: 'canary-header-of-an-entry-in-the-store-9e03aa',
};

/** What a secret looks like in text, in a header of `Basic`, and in a column of bytes. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [secret, encodeURIComponent(secret), bytes.toString('base64').replace(/.{1,3}=*$/, ''), bytes.toString('hex')];
};

interface Place {
  readonly name: string;
  readonly text: string;
}

/** Every file of the folders. Those that the gateway removes meanwhile are left out. */
const filesIn = (folders: readonly string[]): Place[] =>
  folders.flatMap((folder) =>
    globSync(join(folder, '**/*')).flatMap((name) => {
      try {
        return statSync(name).isFile() ? [{ name, text: readFileSync(name, 'latin1') }] : [];
      } catch {
        return [];
      }
    }),
  );

async function run(configs: string, line: string): Promise<Place> {
  let text = '';
  const world = {
    env: { KEYS },
    terminal: undefined,
    input: async () => Buffer.alloc(0),
    out: (more: string) => void (text += more),
    err: (more: string) => void (text += more),
  };
  const name = line.split(' ', 2).join(' ');
  const args = line.split(' ').slice(2);
  await commands.get(name)!.run([...args, '--configs', configs], world);
  return { name: `gatehouse ${name}`, text };
}

const PLACES = [
  /\/spool\//,
  /\/state\.db/,
  /\/ledger\/\d/,
  /\/snapshots\/snapshot/,
  /\/by-hand\/state\.db/,
  /\/by-hand\/ledger\/\d/,
  /\/records\//,
  /^GET .audit$/,
  /^GET .ledger$/,
  /^GET .ledger.format=csv$/,
  /^GET .usage.by=key&format=jsonl$/,
  /^gatehouse ledger export$/,
  /^gatehouse state export$/,
];

/** Reads that take a parameter. */
const ASKED: Readonly<Record<string, string>> = {
  '/settings/file': '?path=catalog.yaml',
  '/settings/places': '?config=default',
  '/find': '?q=a',
};

/** All answers of the admin API to reads, the exports among them. Streams have no end. */
async function answersOf(admin: AdminGateway, token: string): Promise<Place[]> {
  const document = (await admin.ask('GET', '/openapi.json', { token })).json;
  const lists = Object.entries<Record<string, unknown>>(document.paths)
    .filter(([, methods]) => 'get' in methods)
    .map(([path]) => path.replace(/^\/admin\/v1/, ''))
    .filter((path) => !path.includes('{') && path !== '/stream')
    .map((path) => path + (ASKED[path] ?? ''));
  expect(lists.length).toBeGreaterThan(10);
  const exports = ['usage?by=key&', 'ledger?'].flatMap((path) =>
    ['csv', 'jsonl'].map((format) => `/${path}format=${format}`),
  );
  const objects = [
    '/keys/stored',
    '/keys/test',
    '/alerts/stored',
    '/alerts/file',
    '/prices/stored',
    '/providers/stored',
  ];
  const explained = ['/usage?by=user&step=hour', '/ledger?limit=200', '/audit?limit=200'];
  const answers: Place[] = [];
  for (const path of [...lists, ...exports, ...objects, ...explained]) {
    const { status, text } = await admin.ask('GET', path, { token });
    if (path !== '/usage') expect([path, status]).toEqual([path, 200]);
    answers.push({ name: `GET ${path}`, text });
  }
  return answers;
}

it('Secrets are in no spool, ledger, export, backup, snapshot, row of the audit or answer of the admin API', async () => {
  const upstream = await startUpstream((request, res) => {
    if (request.url === '/token')
      return json(res, { access_token: CANARIES['accessToken'], expires_in: 3600, token_type: 'Bearer' });
    const sent = JSON.stringify(request.headers);
    if (request.text.includes('echo')) return json(res, { error: { message: sent, type: 'x', code: sent } }, 400);
    if (request.text.includes('late')) return sse(res, anthropicEvents('hi').slice(0, 3));
    return json(res, request.url.includes('google') ? geminiReply('hi') : openaiReply('hi'));
  });
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-state-canary-'));
  const account = join(folder, 'account.json');
  writeFileSync(
    account,
    JSON.stringify({
      type: 'service_account',
      project_id: 'test-project',
      private_key: privateKey,
      client_email: 'a@test-project.iam.gserviceaccount.com',
      token_uri: `${upstream.url}/token`,
    }),
  );
  const local = { base_url: upstream.url, allow_insecure: true };
  const vertex = { provider: 'vertex-ai', region: 'us-central1', ...local };
  const secret = (name: string): string => `\${env:NONE:-${CANARIES[name]}}`;
  const [records, backups] = [join(folder, 'records'), join(folder, 'backups')];
  const admin = await startAdmin({
    server: {
      default_config: undefined,
      egress: { token_uris: [`${upstream.url}/token`] },
      telemetry: { records: { dir: records } },
      alerts: {
        webhooks: [
          {
            id: 'file',
            url: `${upstream.url}/${CANARIES['fileWebhookPath']}`,
            secret: secret('fileWebhook'),
            kinds: ['unknown_price'],
            allow_insecure: true,
          },
        ],
      },
    },
    catalog: {
      providers: [
        { slug: 'sim', provider: 'simulator' },
        { slug: 'vertex', service_account: `\${file:${account}}`, ...vertex },
        { slug: 'own', project_id: 'test-project', ...vertex },
        { slug: 'claude', provider: 'anthropic', api_key: secret('vendorKey'), ...local },
        {
          slug: 'openai',
          provider: 'openai',
          api_key: secret('vendorKey'),
          secret_headers: { 'x-entrance': secret('secretHeader') },
          ...local,
        },
      ],
    },
    teams: { teams: { search: { budgets: [{ cap: '1000000 tokens', period: 'day' }] } } },
    state: { peppers: secret('pepper').replace(':-', ':-p1:'), backup: { dir: backups } },
  });
  const secrets = new Map(Object.entries(CANARIES));
  const places: Place[] = [];
  const look = (): void => void places.push(...filesIn([admin.folder, records, backups]));
  try {
    const token = await admin.token('admin');
    secrets.set('adminToken', token).set('otherToken', await admin.token('viewer', { id: 'other' }));
    const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'if-match': '*', 'idempotency-key': `${method}-${path}` };
      const { status, text, json: answer } = await admin.ask(method, path, { token, body, headers });
      expect([path, Math.floor(status / 100)]).toEqual([path, 2]);
      // These two answer with the key that they make.
      if (!/^\/keys(?:$|.*:rotate$)/.test(path)) places.push({ name: `${method} ${path}`, text });
      return answer;
    };
    secrets.set('storedKey', String((await call('POST', '/keys', { id: 'stored', spec: {} }))['key']));
    const key = String((await call('POST', '/keys/stored:rotate', { overlap: '1h' }))['key']);
    secrets.set('rotatedKey', key);
    const spec = { url: `${upstream.url}/${CANARIES['storeWebhookPath']}`, kinds: ['budget'], allow_insecure: true };
    await call('POST', '/alerts', { id: 'stored', spec: { ...spec, secret: CANARIES['storeWebhook'] } });
    await call('PATCH', '/alerts/stored', { spec: { secret: CANARIES['otherStoreWebhook'] } });
    await call('POST', '/prices', { id: 'stored', spec: { model: 'priced', usd: { input: 1, output: 1 } } });
    const entry = { provider: 'openai', ...local, secret_headers: { 'x-entrance': CANARIES['storedHeader'] } };
    await call('POST', '/providers', { id: 'stored', spec: { ...entry, api_key: CANARIES['storedProvider'] } });
    await call('PATCH', '/providers/stored', { spec: { models: ['priced'] } });
    // Wrong calls, which the audit has too.
    const wrong = { ...entry, api_key: CANARIES['storedProvider'], colour: CANARIES['storedHeader'] };
    const refused = await admin.ask('POST', '/providers', { token, body: { id: 'wrong', spec: wrong } });
    expect(refused.status).toBe(422);
    places.push({ name: 'a refused entry', text: refused.text });
    await admin.ask('DELETE', '/keys/stored', { token: `${token}x` });
    await admin.ask('POST', '/keys', { token, body: { id: 'wrong', spec: { key: CANARIES['vendorKey'] } } });

    const bearer = { authorization: `Bearer ${CANARIES['callerToken']}` };
    const ask = async (gatewayKey: string, model: string, content: string, more: object = {}): Promise<number> => {
      const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': gatewayKey,
          ...(model.startsWith('@own') && bearer),
        },
        body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content }], ...more }),
      });
      const text = await reply.text();
      places.push({ name: `the reply of ${model}`, text });
      return reply.status;
    };
    for (const one of [FILE_KEY, key]) {
      expect(await ask(one, '@vertex/gemini-2.5-flash', 'hi')).toBe(200);
      expect(await ask(one, '@own/gemini-2.5-flash', 'hi')).toBe(200);
      expect(await ask(one, '@openai/priced', 'hi')).toBe(200);
      expect(await ask(one, '@openai/priced', 'echo')).toBe(400);
      expect(await ask(one, '@stored/priced', 'echo')).toBe(400);
      expect(await ask(one, '@claude/claude-haiku-4-5', 'late', { stream: true })).toBe(200);
      expect(await ask(one, '@openai/unpriced', 'hi')).toBe(200);
      look();
    }
    expect(await ask(`${key}x`, '@openai/priced', 'hi')).toBe(401);
    const rows = async (): Promise<number> =>
      (await admin.ask('GET', '/ledger?limit=200', { token })).json.items.length;
    const webhook = () => upstream.seen.some(({ url }) => url.includes(CANARIES['fileWebhookPath']!));
    await vi.waitFor(async () => expect([await rows(), webhook()]).toEqual([10, true]), { timeout: 60_000 });
    places.push(...(await answersOf(admin, token)));
    places.push({ name: 'the log', text: admin.logText() });
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    for (const line of [
      `ledger export --from ${day}`,
      `ledger export --from ${day} --format jsonl --by key,model`,
      'state export',
      'state diff',
      `state backup ${join(backups, 'by-hand')}`,
    ])
      places.push(await run(admin.configs, line));
    look();
    await admin.gateway.close();
    look();
  } finally {
    await admin.close();
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const found = places.flatMap(({ name, text }) =>
    [...secrets].flatMap(([of, one]) => (formsOf(one).some((form) => text.includes(form)) ? [`${of} in ${name}`] : [])),
  );
  expect(found).toEqual([]);
  // The places were read and had content: the id of the key is in each of them.
  const seen = places.filter(({ text }) => text.includes('stored')).map(({ name }) => name);
  for (const place of PLACES) expect([place, seen.some((name) => place.test(name))]).toEqual([place, true]);
  const sent = JSON.stringify(upstream.seen.map(({ headers, url }) => [headers, url]));
  for (const name of ['vendorKey', 'secretHeader', 'accessToken', 'callerToken', 'fileWebhookPath'])
    expect([name, sent.includes(CANARIES[name]!)]).toEqual([name, true]);
}, 60_000);
