import '../../../../test/support/add-ons.ts';
import { describe, expect, it } from 'vitest';
import { restartKeys } from '../../../core/process/restart-only.testkit.ts';
import { describe as text } from '../../../core/settings/source/diagnostic.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { Secret } from '../../../plugin/index.ts';

async function problemsOf(store: string, more = 'dir: /var/lib/gatehouse', env = {}): Promise<string[]> {
  const files = memoryFiles({
    'c/catalog.yaml': 'providers: []\n',
    'c/keys.yaml': 'keys: [{ id: a, key: "${env:KEY:-gatehouse-test-key-0123456789}" }]\n',
    'c/server.yaml': `state:\n  store: { type: postgres, ${store} }\n  ${more}\n`,
  });
  const { diagnostics } = await loadSettings('c', { env, files, now: 0 });
  return diagnostics.filter(({ severity }) => severity === 'error').map(text);
}

describe('a store in PostgreSQL', () => {
  const url = 'url: "${env:DATABASE_URL}"';
  const env = { DATABASE_URL: 'postgres://ann:canary@db.example/gate' };

  it('is valid with an address and a folder of its own', async () => {
    expect(await problemsOf(`${url}, schema: gate, connections: 8, listen: false`, undefined, env)).toEqual([]);
  });

  it('says at its place which variable is not set', async () => {
    expect(await problemsOf(url)).toEqual([
      expect.stringMatching(/server\.yaml:2:\d+: .*the environment variable `DATABASE_URL` is not set/),
    ]);
  });

  it.each([
    ['schema: gate', undefined, /server\.yaml:2:18: .*needs `url`/],
    [url, 'owns: []', /server\.yaml:2:18: .*needs `state\.dir`/],
    [`${url}, dir: /a`, undefined, /server\.yaml:2:\d+: .*`dir`/],
    [`${url}, schema: 'a"b'`, undefined, /server\.yaml:2:\d+: `schema` must look like/],
    [url, 'dir: /a\n  backup: { dir: /b }', /pg_dump/],
  ])('is refused: %s, %s', async (store, more, reason) => {
    const problems = await problemsOf(store, more, env);
    expect(problems).toEqual([expect.stringMatching(reason)]);
    expect(problems.join('')).not.toContain('canary');
  });

  it('takes no parameters in its address, which could turn the check of the certificate off', async () => {
    const problems = await problemsOf(url, undefined, { DATABASE_URL: `${env.DATABASE_URL}?sslmode=no-verify` });
    expect(problems).toEqual([expect.stringMatching(/server\.yaml:2:\d+: .*the address has parameters/)]);
    expect(problems.join('')).not.toContain('canary');
  });

  it('has a stand-in for its address where secrets are faked', async () => {
    const files = memoryFiles({
      'c/catalog.yaml': 'providers: []\n',
      'c/keys.yaml': 'keys: [{ id: a, key: "${env:KEY}" }]\n',
      'c/server.yaml': 'state: { store: { type: postgres, url: "${env:DATABASE_URL}" }, dir: /a }\n',
    });
    const { diagnostics, fakedNames } = await loadSettings('c', { env: {}, files, now: 0, fakeMissing: true });
    expect([diagnostics, fakedNames]).toEqual([[], ['env:DATABASE_URL', 'env:KEY']]);
  });

  it('needs a restart for each of its keys', () => {
    const of = (store: object) => ({ state: { dir: '/a', store: { type: 'postgres' as const, ...store } } });
    const secret = (address: string): Secret => new Secret(address, 'DATABASE_URL');
    expect(
      restartKeys(
        of({ url: secret('postgres://a:b@c/d') }),
        of({ url: secret('postgres://a:x@c/d'), ca: 'pem', schema: 'other', connections: 5, listen: false }),
      ),
    ).toEqual(['url', 'ca', 'schema', 'connections', 'listen'].map((key) => `state.store.${key}`));
  });
});
