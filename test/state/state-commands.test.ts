import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { SnapshotFiles } from '../../src/addons/budgets/store/snapshot-files.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { writeSettings } from '../support/gateway.ts';

const KEYS_FILE = `keys:
  - id: search
    digest: sha256:${'a'.repeat(64)}
    models: ["gemini-*"]
    expires_at: "2030-01-01T00:00:00Z"
    previous: { digest: "sha256:${'b'.repeat(64)}", expires_at: "2029-01-01T00:00:00Z" }
  - id: ads
    key: "\${env:ADS_KEY}"
`;

let top: string;
let configs: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'gatehouse-state-cli-'));
  configs = writeSettings({
    server: { state: { store: { type: 'sqlite', dir: join(top, 'state') }, owns: ['keys'] } },
    keys: KEYS_FILE,
  });
});
afterEach(() => {
  rmSync(top, { recursive: true });
  rmSync(configs, { recursive: true });
});

let keys = KEYS;
afterEach(() => void (keys = KEYS));

async function run(name: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const env = { ADS_KEY: 'gatehouse-ads-key-0123', GATEHOUSE_ENCRYPTION_KEYS: keys };
  const world = {
    env,
    terminal: undefined,
    input: async () => Buffer.alloc(0),
    out: (more: string) => void (out += more),
    err: (more: string) => void (err += more),
  };
  const code = await commands.get(name)!.run([...args, '--configs', configs], world);
  return { code, out, err };
}

describe('gatehouse state', () => {
  it('moves keys to the store, names the entries to remove, and finds those that are left in both', async () => {
    expect(await run('state migrate', '--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/would move 2 objects\n.*keys\.yaml:2:9: search\n.*keys\.yaml:7:9: ads\n$/),
    });
    expect(await run('state diff')).toMatchObject({ code: 1, err: expect.stringContaining('has no store') });
    const moved = await run('state migrate');
    expect(moved).toMatchObject({ code: 0, err: '' });
    expect(moved.out).toMatch(/2 objects moved, 0 were there\nRemove these entries.*\n.*keys\.yaml:2:9: search\n/);
    expect((await run('state migrate')).out).toContain('0 objects moved, 2 were there');
    const both = await run('state diff');
    expect([both.code, both.out.match(/^both   key \w+ /gm)]).toEqual([1, ['both   key search ', 'both   key ads ']]);
    writeFileSync(join(configs, 'keys.yaml'), 'keys: []\n');
    const after = await run('state diff');
    expect([after.code, after.out.match(/^store  key \w+ /gm)]).toEqual([0, ['store  key ads ', 'store  key search ']]);
  });

  it('makes the tables alone for --tables, so that a gateway starts on the objects of its files', async () => {
    expect((await run('state migrate', '--tables')).out).toMatch(/0 objects moved, 0 were there\n$/);
    expect(await run('state diff')).toMatchObject({ code: 0, out: expect.not.stringContaining('both') });
  });

  it('moves teams and organizations before the keys that name them', async () => {
    const owns = ['keys', 'teams', 'organizations'];
    writeFileSync(
      join(configs, 'server.yaml'),
      JSON.stringify({ state: { store: { type: 'sqlite', dir: join(top, 'state') }, owns } }),
    );
    writeFileSync(
      join(configs, 'teams.yaml'),
      'organizations: { acme: {} }\nteams: { search: { organization: acme } }\n',
    );
    expect((await run('state migrate')).out).toMatch(
      /4 objects moved.*\n.*\n.*teams\.yaml:1:18: acme\n.*teams\.yaml:2:10: search\n/,
    );
    expect((await run('state diff')).out).toMatch(/^both   organization acme .*\nboth   team search /);
  });

  it('moves, exports and imports prices and alerts, whose addresses and secrets are sealed and in no export', async () => {
    const secrets = ['https://alerts.example/canary-path', `whsec_${Buffer.alloc(32, 9).toString('base64')}`];
    const write = (alerts: object | undefined): void =>
      writeFileSync(
        join(configs, 'server.yaml'),
        JSON.stringify({
          state: {
            store: { type: 'sqlite', dir: join(top, 'state') },
            owns: ['prices', 'alerts'],
            encryption_keys: '${env:GATEHOUSE_ENCRYPTION_KEYS}',
          },
          alerts,
        }),
      );
    const [url, secret] = secrets.map((text) => `\${env:NONE:-${text}}`);
    write({ webhooks: [{ id: 'ops', url, secret, kinds: ['budget'] }] });
    const prices =
      'prices:\n  - { id: own, model: m-*, usd: { input: 1.5, output: 2 } }\n  - { model: x, usd: { input: 1 } }\n';
    writeFileSync(join(configs, 'prices.yaml'), prices);
    const moved = await run('state migrate');
    expect([moved.code, moved.out]).toEqual([
      0,
      expect.stringMatching(
        /2 objects moved, 0 were there\n.*\n.*prices\.yaml:2:11: own\n.*server\.yaml:\d+:\d+: ops\n$/,
      ),
    ]);
    expect((await run('state diff')).out.match(/^both   \w+ \w+ /gm)).toEqual([
      'both   price own ',
      'both   alert ops ',
    ]);
    write(undefined);
    rmSync(join(configs, 'prices.yaml'));
    const { out } = await run('state export');
    const docs = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; id: string; doc: object; sealed: string[] })
      .map(({ kind, id, doc, sealed }) => [kind, id, doc, sealed.toSorted()]);
    expect(docs.toSorted()).toEqual([
      ['alerts', 'ops', { kinds: ['budget'] }, ['secret', 'url']],
      ['prices', 'own', { model: 'm-*', usd: { input: 1.5, output: 2 } }, []],
    ]);
    expect(out).not.toMatch(/canary|whsec_/);
    const file = join(top, 'export.jsonl');
    writeFileSync(file, out);
    rmSync(join(top, 'state'), { recursive: true });
    const imported = await run('state import', file);
    expect([imported.code, imported.err, imported.out]).toEqual([
      0,
      '',
      expect.stringMatching(
        /^1 objects have secrets, which an export does not contain: write them again\n.*2 objects imported/,
      ),
    ]);
    expect((await run('state diff')).out.match(/^store  \w+ \w+ /gm)?.toSorted()).toEqual([
      'store  alert ops ',
      'store  price own ',
    ]);
  });

  it('exports objects without secrets', async () => {
    await run('state migrate');
    const { out, code } = await run('state export', '--kind', 'keys');
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; doc: object; digests: object[] });
    expect(code).toBe(0);
    expect(rows.map(({ id, doc, digests }) => [id, doc, digests.length])).toEqual([
      ['ads', {}, 1],
      ['search', { models: ['gemini-*'] }, 2],
    ]);
    expect(out).not.toContain('gatehouse-ads-key');
    expect((await run('state export', '--kind', 'counters')).out).toBe('');
    await expect(run('state export', '--kind', 'colours')).rejects.toThrow('--kind must be');
  });

  it('imports what another store exported, all of it or nothing, and refuses it a second time', async () => {
    await run('state migrate');
    const file = join(top, 'export.jsonl');
    const { out } = await run('state export');
    writeFileSync(file, out);
    rmSync(join(top, 'state'), { recursive: true });
    expect(await run('state import', file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /export\.jsonl:1: keys\/ads is in a file, too: .*keys\.yaml:7:9\n.*:2: keys\/search .*\ngatehouse: nothing was imported: 2 of 2/,
      ),
    });
    writeFileSync(join(configs, 'keys.yaml'), 'keys: []\n');
    expect(await run('state import', file, '--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringContaining('would import 2 objects'),
    });
    const [first = ''] = out.split('\n');
    writeFileSync(
      join(top, 'broken.jsonl'),
      `${out}{"kind":1}\n${first.replace('"ads"', '"x"').replace('"doc":{}', '"doc":{"models":5}')}\n`,
    );
    const broken = await run('state import', join(top, 'broken.jsonl'));
    expect([broken.code, broken.err]).toEqual([
      1,
      expect.stringMatching(/:3: this is no line of an export\n.*:4: keys\/x is not valid: models must be array/),
    ]);
    expect(await run('state import', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('2 objects imported'),
    });
    expect(await run('state import', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('keys/ads is in the store already'),
    });
    const again = (await run('state export')).out;
    const shown = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => {
          const { id, doc, digests } = JSON.parse(line) as Record<string, unknown>;
          return { id, doc, digests };
        });
    expect(shown(again)).toEqual(shown(out));
  });

  it('accepts a store that went back to an earlier version, once', async () => {
    expect(await run('state migrate')).toMatchObject({ code: 0, err: '' });
    const files = new SnapshotFiles(join(top, 'state', 'snapshots'), undefined);
    await files.write({ version: 7, at: Date.now(), pieces: [] });
    const refused = startGateway({ configs, env: { ADS_KEY: 'x' }, logTo: { write() {} } });
    writeFileSync(join(configs, 'keys.yaml'), 'keys: []\n');
    const diagnostics = await refused.then(
      () => [],
      (error: SettingsRefused) => error.diagnostics.map(({ message }) => message),
    );
    expect(diagnostics).toEqual([
      expect.stringMatching(/has version 1, and this gateway has seen version 7.*accept-rollback/),
    ]);
    const accepted = (out: string) => ({ code: 0, err: '', out: expect.stringContaining(out) });
    expect(await run('state accept-rollback')).toEqual(accepted('version 1 is accepted in place of version 7'));
    expect(await run('state accept-rollback')).toEqual(accepted('nothing to accept'));
    const gateway = await startGateway({ configs, env: {}, logTo: { write() {} } });
    await gateway.close();
  });

  it('finds keys that are in the files and in the store when it checks the settings', async () => {
    expect(await run('state migrate')).toMatchObject({ code: 0, err: '' });
    const twice = /keys\.yaml:2:9: key "search" is also in the store/;
    expect(await run('validate')).toMatchObject({ code: 1, out: expect.stringMatching(twice) });
    expect((await run('doctor', '--offline')).out).toMatch(/error +settings: .*key "search" is also in the store/);
    writeFileSync(join(configs, 'keys.yaml'), 'keys: []\n');
    expect(await run('validate')).toMatchObject({ code: 0, out: expect.stringContaining('valid (') });
    writeFileSync(join(top, 'state', 'state.db'), 'no database');
    const warning = /server\.yaml:\d+:\d+: warning: the objects of the state store were not checked: /;
    expect(await run('validate')).toMatchObject({ code: 0, out: expect.stringMatching(warning) });
  });

  it('copies a store and puts the copy back, with its audit', async () => {
    await run('state migrate');
    const before = await run('state export');
    const copy = join(top, 'copy');
    expect(await run('state backup', copy)).toMatchObject({ code: 0, out: `${copy}: version 1, 2 objects\n` });
    expect(await run('state backup', copy)).toMatchObject({
      code: 1,
      err: expect.stringContaining('exists: a backup is a new folder'),
    });
    expect(await run('state restore', copy)).toMatchObject({
      code: 1,
      err: expect.stringContaining('has a store: move it away'),
    });
    rmSync(join(top, 'state'), { recursive: true });
    expect(await run('state restore', join(top, 'none'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('is no backup'),
    });
    mkdirSync(join(top, 'state', 'ledger'), { recursive: true });
    chmodSync(join(top, 'state'), 0o755);
    for (const log of ['state.db-wal', 'ledger/2026-11-22.db-wal']) {
      writeFileSync(join(top, 'state', log), 'left behind');
      expect(await run('state restore', copy)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`${log} belongs to a database that was moved away`),
      });
      rmSync(join(top, 'state', log));
    }
    expect(await run('state restore', copy)).toMatchObject({
      code: 0,
      err: expect.stringContaining('a key that was revoked since then is valid again'),
    });
    for (const folder of [copy, join(top, 'state')])
      for (const name of ['state.db', 'ledger/dropped.db'])
        expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect((await run('state export')).out).toBe(before.out);
    expect((await run('state verify')).out).toMatch(/^audit: 3 rows, intact; the last row is 3:[0-9a-f]{64}\n/);
  });

  it('says what a chain without a key proves and how to prove more, and where the keyed part begins', async () => {
    await run('state migrate');
    const { out } = await run('state verify');
    const [, first = '', hint = ''] = out.split('\n');
    expect(first).toMatch(/^rows 1 to 2: no key: .* replaced with write access to the store.*state\.encryption_keys/);
    expect(hint).toMatch(/--head SEQ:HASH.*the log/);
    const [, head = ''] = /the last row is (\S+)/.exec(out)!;
    expect((await run('state verify', '--head', head)).out).not.toContain('--head');

    const text = readFileSync(join(configs, 'server.yaml'), 'utf8');
    const server = JSON.parse(text) as { state: object };
    const keyed = { ...server.state, encryption_keys: '${env:GATEHOUSE_ENCRYPTION_KEYS}' };
    writeFileSync(join(configs, 'server.yaml'), JSON.stringify({ ...server, state: keyed }));
    expect((await run('state verify')).out).toContain('no row has a key yet');
    const copy = join(top, 'copy');
    await run('state backup', copy);
    rmSync(join(top, 'state'), { recursive: true });
    expect((await run('state restore', copy)).code).toBe(0);
    const [intact = '', ...parts] = (await run('state verify')).out.split('\n');
    expect(intact).toMatch(/3 rows, intact; the last row is 3:[0-9a-f]{16}\.[0-9a-f]{64}$/);
    expect(parts.slice(0, 2)).toEqual([
      expect.stringMatching(/^rows 1 to 2: no key/),
      'rows 3 to 3: the key k1: only a holder of state.encryption_keys can have written them',
    ]);
    keys = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
    expect((await run('state verify')).out).toContain('rows 3 to 3: not verifiable up to row 3: ');
  });

  it('shows an audit that was changed', async () => {
    await run('state migrate');
    const db = new DatabaseSync(join(top, 'state', 'state.db'));
    db.exec(`DROP TRIGGER audit_update; UPDATE audit SET actor = 'eve' WHERE seq = 1`);
    db.close();
    expect(await run('state verify')).toEqual({
      code: 1,
      out: '',
      err: 'audit: row 1: its values are not those of its hash\n',
    });
  });

  it('finds that the last rows of the audit were removed, by the hash of one of them', async () => {
    await run('state migrate');
    const [, seq, hash] = /the last row is (\d+):(\w+)/.exec((await run('state verify')).out)!;
    const head = ['--head', `${seq}:${hash}`] as const;
    expect(await run('state verify', ...head)).toMatchObject({ code: 0, err: '' });
    await expect(run('state verify', '--head', hash!)).rejects.toThrow('--head is SEQ:HASH');
    const db = new DatabaseSync(join(top, 'state', 'state.db'));
    db.exec(`DROP TRIGGER audit_delete; DELETE FROM audit WHERE seq = ${seq}`);
    db.close();
    expect((await run('state verify')).code).toBe(0);
    expect(await run('state verify', ...head)).toEqual({
      code: 1,
      out: '',
      err: `audit: row ${seq}: row ${seq} is missing\n`,
    });
  });

  it('needs a store in files', async () => {
    writeFileSync(join(configs, 'server.yaml'), 'state: { store: { type: memory } }\n');
    expect(await run('state diff')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no `state.store` that outlives the gateway'),
    });
  });
});

describe('docs/operate/state.md', () => {
  const page = readFileSync(packageFile('docs/operate/state.md'), 'utf8');
  const fences = (language: string): string[] =>
    [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].flatMap(([, kind, code]) => (kind === language ? [code!] : []));

  it('has settings that are valid, and commands that work one after another', async () => {
    const [server = ''] = fences('yaml');
    writeFileSync(join(configs, 'server.yaml'), server.replace('/var/lib/gatehouse/state', join(top, 'state')));
    const lines = fences('sh').flatMap((code) => code.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) {
      const [, action = '', rest = ''] = /^npx gatehouse (state [\w-]+) ?(.*)$/.exec(line.replace(/ *#.*$/, '')) ?? [];
      if (action === 'state restore')
        for (const name of readdirSync(join(top, 'state')))
          if (name.startsWith('state.db') || name === 'ledger') rmSync(join(top, 'state', name), { recursive: true });
      const { code, err } = await run(action, ...rest.replace('/var/backups', top).split(' ').filter(Boolean));
      expect([line, code]).toEqual([line, 0]);
      // A restore says what it loses.
      expect(err === '').toBe(action !== 'state restore');
      if (action === 'state migrate' && rest === '') writeFileSync(join(configs, 'keys.yaml'), 'keys: []\n');
    }
  });
});
