import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { entriesFor, json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { chat, startAdmin, type AdminGateway } from './kit.ts';

let upstream: ScriptedUpstream;
let admin: AdminGateway;
let token: string;

const BUSY = { error: { message: 'Vendor words: \u001b[31mslow down', type: 'server_error', code: 'slow' } };
const REFUSED = { error: { message: 'No such field', type: 'invalid_request_error', param: 'seed' } };

beforeAll(async () => {
  upstream = await startUpstream(({ json: { model } }, res) => {
    if (model === 'busy') return json(res, BUSY, 503);
    return model === 'bad' ? json(res, REFUSED, 400) : json(res, openaiReply('hi'));
  });
  const target = (model: string, more: object = {}): object => ({
    provider: '@openai',
    override_params: { model },
    ...more,
  });
  admin = await startAdmin({
    state: null,
    teams: { teams: { search: {} } },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      default: { provider: '@openai', reply_headers: ['explain_id'] },
      prod: {
        strategy: { mode: 'fallback' },
        targets: [target('busy', { name: 'primary', retry: { attempts: 1 } }), target('good', { name: 'backup' })],
      },
    },
  });
  token = '';
  await chat(admin, { 'x-request-id': 'plain', 'x-gateway-metadata': '{"app":"search"}' }, { model: 'good' });
  await chat(admin, { 'x-request-id': 'saved', 'x-gateway-config': 'prod' }, { model: 'any' });
  await chat(admin, { 'x-request-id': 'lost' }, { model: 'bad' });
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
});

const idsOf = (items: readonly { readonly request_id: string }[]): readonly string[] =>
  items.map(({ request_id: id }) => id);

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const world = {
    env: { GATEHOUSE_ADMIN_URL: admin.gateway.admin!.url, GATEHOUSE_ADMIN_TOKEN: token },
    terminal: undefined,
    input: async () => Buffer.from(''),
    out: (more: string) => void (out += more),
    err: (more: string) => void (err += more),
  };
  const code = await commands.get('admin')!.run(args, world);
  return { code, out, err };
}

describe('the list of requests', () => {
  it.each([
    ['', ['lost', 'saved', 'plain']],
    ['state=rescued', ['saved']],
    ['state=failed', ['lost']],
    ['status=400', ['lost']],
    ['status=4xx&status=2xx', ['lost', 'saved', 'plain']],
    ['error=upstream_rejected&error=overloaded', ['lost']],
    ['provider=openai&model=busy', ['saved']],
    ['target=primary', ['saved']],
    ['target=config.targets[1]', ['saved']],
    ['config=prod', ['saved']],
    ['key=test&team=search&label.app=search', ['plain']],
    ['label.app=chat', []],
    ['q=VENDOR%20WORDS', ['saved']],
    ['min_ms=999999', []],
    ['since=15m', ['lost', 'saved', 'plain']],
    ['since=2020-01-01&until=2020-01-02', []],
  ])('has what ?%s asks for', async (query, wanted) => {
    const { json: body } = await admin.ask('GET', `/requests?${query}`);
    expect([idsOf(body.items), body.partial]).toEqual([wanted, []]);
  });

  it('has pages, each after the one before', async () => {
    const seen: string[] = [];
    let next = '';
    do {
      const { json: page } = await admin.ask('GET', `/requests?limit=1${next}`);
      seen.push(...idsOf(page.items));
      next = page.next === undefined ? '' : `&cursor=${page.next}`;
    } while (next !== '');
    expect(seen).toEqual(['lost', 'saved', 'plain']);
  });
});

describe('gatehouse admin requests', () => {
  it('lists requests as a table, by the same filters', async () => {
    const { code, out, err } = await run(
      'requests',
      'list',
      '--state',
      'rescued',
      '--since',
      '1h',
      '--target',
      'backup',
    );
    expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      [
        'REQUEST ID',
        'STATE',
        'STATUS',
        'CODE',
        'DURATION MS',
        'KEY ID',
        'CONFIG ID',
        'TARGET NAME',
        'PROVIDER',
        'REQUEST MODEL',
        'ATTEMPTS',
      ],
      ['saved', 'rescued', '200', '-', expect.any(String), 'test', 'prod', 'backup', 'openai', 'good', '2'],
      [],
    ]);
    expect([code, err]).toEqual([0, expect.stringMatching(/^The oldest request that is kept arrived at \S+\.\n$/)]);
    expect((await run('requests', 'list', '--label', 'app=search', '--output', 'json')).out).toContain('"plain"');
    await expect(run('requests', 'list', '--label', 'app')).rejects.toThrow('--label must be NAME=VALUE');
  });

  it('shows a request as a timeline, in the words of the vendor, which cannot move the cursor', async () => {
    const { code, out } = await run('requests', 'get', 'saved');
    expect(code).toBe(0);
    expect(
      out
        .replaceAll(/\d{4}-\S+Z/g, 'TIME')
        .replaceAll(/\d+ ms/g, 'N ms')
        .replaceAll(/^ +N ms/gm, '  N ms'),
    ).toBe(TIMELINE);
    expect((await run('requests', 'get', 'none')).err).toContain('404 not_found');
  });

  it('explains a request as text, and as JSON', async () => {
    const { items } = (await admin.ask('GET', '/requests?label.app=search')).json;
    const text = await run('requests', 'explained', items[0].explain_id);
    expect([text.code, text.out]).toEqual([0, expect.stringContaining('@openai/good')]);
    const asked = await run(
      'requests',
      'explain',
      '--key',
      'test',
      '--body',
      '{"model":"m","messages":[]}',
      '--output',
      'json',
    );
    expect(JSON.parse(asked.out)).toMatchObject({ caller: { key: 'test' } });
  });
});

const TIMELINE = `request saved  complete 200  N ms  first content after N ms
TIME  POST /v1/chat/completions
key test  team search  config prod
  N ms  attempt 1: primary (config.targets[0])  @openai/busy  because: first  error after N ms
  N ms    try 1  503  overloaded  after N ms
  N ms    try 2  503  overloaded  after N ms  waited N ms before
               failed: overloaded
               vendor: kind server_error  code slow
               vendor: "Vendor words: \uFFFD[31mslow down"
  N ms  attempt 2: backup (config.targets[1])  @openai/good  because: fallback  success after N ms  in 3  out 2
  N ms    try 1  200  success  after N ms
`;
