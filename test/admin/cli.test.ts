import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { OPERATIONS } from '../../src/addons/admin/api/routes.ts';
import { startAdmin, type AdminGateway } from './kit.ts';

let admin: AdminGateway;
let token: string;
beforeAll(async () => {
  admin = await startAdmin();
  token = await admin.token('admin');
});
afterAll(() => admin.close());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], input = ''): Promise<Ran> {
  let out = '';
  let err = '';
  const world = {
    env: { GATEHOUSE_ADMIN_URL: admin.gateway.admin!.url, GATEHOUSE_ADMIN_TOKEN: token },
    terminal: undefined,
    input: async () => Buffer.from(input),
    out: (more: string) => void (out += more),
    err: (more: string) => void (err += more),
  };
  const code = await commands.get('admin')!.run([...args], world);
  return { code, out, err };
}

const secretIn = ({ out }: Ran): string => /shown once, stored nowhere\):\n\n {2}(\S+)/.exec(out)![1]!;

describe('gatehouse admin', () => {
  it('has a call for each operation of the table', async () => {
    const { out, code } = await run(['help']);
    const lines = out.split('\n').filter((line) => /^ {2}\w/.test(line));
    const wanted = OPERATIONS.map(([id, { path }]) => `  ${id.replace('.', ' ')}${path.includes('{id}') ? ' ID' : ''}`);
    expect([code, lines.length]).toEqual([0, wanted.length]);
    expect(wanted.filter((words) => !lines.some((line) => line === words || line.startsWith(`${words} `)))).toEqual([]);
  });

  it('creates a key, changes it, rotates it and lists it', async () => {
    const made = await run(['keys', 'create', '--id', 'cli', '--spec', '{"team":"search"}', '--reason', 'a test']);
    expect([made.code, made.err, secretIn(made)]).toEqual([0, '', expect.stringMatching(/^gatehouse_/)]);
    writeFileSync(join(admin.configs, 'patch.json'), '{"models":["gemini-*"]}');
    const patched = await run([
      'keys',
      'patch',
      'cli',
      '--spec',
      `@${join(admin.configs, 'patch.json')}`,
      '--output',
      'json',
    ]);
    expect((JSON.parse(patched.out) as { spec: object }).spec).toEqual({ team: 'search', models: ['gemini-*'] });
    expect(secretIn(await run(['keys', 'rotate', 'cli', '--overlap', '1h']))).toMatch(/^gatehouse_/);
    expect((await run(['keys', 'patch', 'cli', '--spec', '-'], '{"models":null}')).code).toBe(0);
    const listed = await run(['keys', 'list', '--team', 'search']);
    expect(listed.out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
      ['ID', 'STATE', 'OWNER', 'TEAM'],
      ['cli', 'active', 'store', 'search'],
      ['test', 'active', 'keys.yaml:2', 'search'],
      [''],
    ]);
    expect(await run(['keys', 'delete', 'cli', '--reason', 'done'])).toEqual({ code: 0, out: '', err: '' });
  });

  it('follows pages with --all, or prints the next call', async () => {
    for (const id of ['a', 'b', 'c']) await run(['teams', 'create', '--id', id]);
    const one = await run(['teams', 'list', '--limit', '2', '--output', 'json']);
    expect([JSON.parse(one.out).items.length, one.err]).toEqual([
      2,
      expect.stringMatching(/^There are more: --all, or --cursor \S+\n$/),
    ]);
    const all = await run(['teams', 'list', '--limit', '2', '--all']);
    expect(all.out.match(/^(a|b|c|search) /gm)).toEqual(['a ', 'b ', 'c ', 'search ']);
  });

  it('adjusts a budget and prints usage, ledger and audit', async () => {
    const adjusted = await run(['budgets', 'adjust', 'team:search:month:usd', '--by=-5 USD', '--reason', 'a refund']);
    expect([adjusted.code, adjusted.out]).toEqual([0, expect.stringMatching(/^spent +-5000000000$/m)]);
    expect((await run(['usage', '--by', 'team'])).out).toBe(
      'START  TEAM  REQUESTS  ATTEMPTS  INPUT  CACHEREAD  OUTPUT  COST USD\n',
    );
    expect((await run(['ledger', '--format', 'csv'])).out).toMatch(/^req,request_id,att,kind,at,/);
    expect((await run(['audit', 'verify'])).out).toMatch(/^intact +true$/m);
    expect((await run(['audit', '--object-kind', 'counter'])).out).toMatch(/adjust +counter +team:search:month:usd/);
    expect((await run(['whoami'])).out).toMatch(/^role +admin$/m);
  });

  it('prints why the gateway refused a call, and what is wrong with a call', async () => {
    const refused = await run(['keys', 'create', '--id', 'x', '--spec', '{"modls":[],"teams":1}']);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(
        /^gatehouse: 422 invalid_body: \/spec\/modls: unknown key `modls`.*\n {2}\/spec\/teams: unknown key/,
      ),
    ]);
    expect((await run(['keys', 'delete', 'test'])).err).toContain(
      '409 owned_by_files: The key "test" is in keys.yaml:2',
    );
    expect((await run(['keys', 'delete', 'none'])).err).toContain('404 not_found');
    expect((await run(['keys', 'get', 'test', '--token', 'gha_wrong'])).err).toContain('401 unauthorized');
    expect((await run(['keys', 'list', '--url', 'http://127.0.0.1:1'])).err).toMatch(
      /^gatehouse: http:\/\/127\.0\.0\.1:1 does not answer: /,
    );
    const wrong: [string[], string][] = [
      [['kees'], 'did you mean keys'],
      [['keys', 'revok'], 'needs an action: list, get'],
      [['keys', 'get'], 'needs an ID'],
      [['keys', 'create'], '--id is missing'],
      [['keys', 'create', '--id', 'a', '--spec', '{'], '--spec must be JSON'],
      [['keys', 'list', '--colour', 'red'], 'no option --colour'],
      [['keys', 'list', '--output', 'xml'], '--output must be table or json'],
    ];
    for (const [args, message] of wrong) await expect(run(args)).rejects.toThrow(message);
  });
});
