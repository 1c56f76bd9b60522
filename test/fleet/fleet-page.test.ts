import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { fences, readPage } from '../docs/pages.ts';
import { MAIN } from '../support/built.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRedis, type RedisServer } from '../support/redis.ts';
import { startMoving, type Moving } from './moving.ts';

const run = promisify(execFile);
const page = readPage('docs/operate/fleet.md');
const shell = fences(page, 'sh');
const missing = postgresMissing(['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'redis-server']);

describe.skipIf(missing !== undefined)(`docs/operate/fleet.md${missing === undefined ? '' : ` (${missing})`}`, () => {
  let top: string;
  let server: TestPostgres;
  let redis: RedisServer;
  let moving: Moving;
  let url: string;
  let head = '';
  beforeAll(async () => {
    top = mkdtempSync(join(tmpdir(), 'gatehouse-page-'));
    [server, redis] = [await startPostgres(), await startRedis()];
    // The server of the test has a user of this name.
    const [create = '', database = ''] = fences(page, 'sql')[0]!.replaceAll('gatehouse', 'of_page').trim().split('\n');
    const client = new pg.Client(server.url());
    await client.connect();
    await client.query(create);
    await client.query(database);
    await client.end();
    url = Object.assign(new URL(server.url()), {
      username: 'of_page',
      password: 'CHANGE_ME',
      pathname: '/of_page',
    }).href;
    moving = startMoving(url, { schema: 'gatehouse' });
    mkdirSync(join(top, 'configs'));
    writeFileSync(join(top, 'configs/server.yaml'), settingsOfPage());
    writeFileSync(join(top, 'configs/catalog.yaml'), 'providers:\n  - { slug: sim, provider: simulator }\n');
    writeFileSync(join(top, 'configs/keys.yaml'), 'keys: []\n');
  }, 300_000);
  afterAll(async () => {
    moving?.end();
    await redis?.stop();
    await server?.end();
    rmSync(top, { recursive: true, force: true });
  });

  /** The lines that follow one another, as they stand. Returns what they print. */
  async function follow(first: string): Promise<string> {
    const lines = shell.find((code) => code.includes(first))!;
    const program = `'${process.execPath}' --disable-warning=ExperimentalWarning '${MAIN}'`;
    const there = lines
      .replaceAll('npx gatehouse', program)
      // A busy machine may be slow to resolve a name.
      .replaceAll(/\bdoctor$/gm, 'doctor --timeout 60s')
      .replaceAll('/var/backups', top)
      .replaceAll('SEQ:HASH', head);
    const env = {
      ...process.env,
      PATH: [...globSync('/usr/lib/postgresql/*/bin'), process.env['PATH']].join(delimiter),
      DATABASE_URL: url,
      VALKEY_URL: redis.url,
      GATEHOUSE_ENCRYPTION_KEYS: KEYS,
      GATEHOUSE_STATE_DIR: moving.folder,
      GATEHOUSE_PORT: '0',
      GATEHOUSE_STATUS_PORT: '0',
      GATEHOUSE_ADMIN_PORT: '0',
    };
    const { stdout, stderr } = await run('bash', ['-euc', there], { cwd: top, env });
    return stdout + stderr;
  }

  it('leads from one gateway to a store that several share, and back from a copy of it', async () => {
    const looked = await follow('--dry-run');
    expect(looked).toMatch(
      /PostgreSQL: postgres:.* answers[^]*Valkey: 127.* answers[^]* would move to postgres:.*: 2 objects/,
    );
    expect(looked).not.toMatch(/^(?:error|warning)/m);
    const moved = await follow('migrate --to postgres\n');
    [, head = ''] = /\(the last is (\S+)\)/.exec(moved) ?? [];
    expect(await follow('state verify --head SEQ:HASH\n')).toContain('intact');
    await follow('pg_dump');
    const before = await moving.after();
    const client = new pg.Client(url);
    await client.connect();
    await client.query(
      `DELETE FROM gatehouse.counter; UPDATE gatehouse.sequence SET value = 99 WHERE name = 'version'`,
    );
    await client.end();
    expect(await follow('pg_restore')).toMatch(/of a restored store[^]*intact/);
    expect(await follow('accept-rollback')).toContain('is accepted');
    const { audit, ...after } = await moving.after();
    const { audit: old, ...rest } = before;
    expect(after).toEqual(rest);
    // One row of each command: restored, accept-rollback.
    expect(audit).toMatchObject({ intact: true, rows: old.intact ? old.rows + 2 : 0 });
  }, 600_000);

  it('names files and objects of Kubernetes that are there', () => {
    const lines = shell.find((code) => code.includes('kubectl'))!;
    const files = [...lines.matchAll(/-f (\S+)/g)].map(([, file]) => file!);
    expect(files.filter((file) => !existsSync(packageFile(file)))).toEqual([]);
    const manifests = globSync('deploy/kubernetes/fleet/*.yaml', { cwd: packageFile('') })
      .map((file) => readFileSync(packageFile(file), 'utf8'))
      .join('\n');
    for (const [, secret] of lines.matchAll(/secret generic (\S+)/g)) expect(manifests).toContain(secret);
    expect(manifests).toContain(`name: ${/job\/(\S+)/.exec(lines)![1]}`);
  });
});

/** The blocks of the page, one after the other. */
function settingsOfPage(): string {
  type Tree = { readonly [name: string]: Tree | string };
  const merge = (one: Tree, other: Tree): Tree => ({
    ...one,
    ...Object.fromEntries(
      Object.entries(other).map(([name, value]) => {
        const before = one[name];
        return [
          name,
          typeof value === 'object' && typeof before === 'object' && name !== 'store' ? merge(before, value) : value,
        ];
      }),
    ),
  });
  const blocks = fences(page, 'yaml').map((code) => parse(code) as Tree);
  const settings = blocks.reduce(merge);
  const state = { ...(settings['state'] as Tree), encryption_keys: '${env:GATEHOUSE_ENCRYPTION_KEYS}' };
  return stringify({ ...settings, state });
}
