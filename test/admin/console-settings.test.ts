import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_KEY, startAdmin, type AdminGateway } from './kit.ts';

const CONFIG = `strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: { $eq: gold } }
      then: best
  default: cheap
targets:
  - { name: best, provider: "@sim" }
  - name: cheap
    strategy: { mode: fallback }
    targets:
      - { provider: "@sim" }
`;
let admin: AdminGateway;
let token: string;

beforeAll(async () => {
  admin = await startAdmin({ gateway: { default: CONFIG } });
  token = await admin.token('viewer');
});
afterAll(() => admin.close());

const get = (path: string) => admin.ask('GET', path, { token });

describe('the settings in force', () => {
  it('have their files, whose secrets are marks of the same length', async () => {
    const { json: settings } = await get('/settings');
    expect(settings).toMatchObject({ reload: { ok: true, diagnostics: [] }, configs: [{ id: 'default' }] });
    const paths = settings.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['keys.yaml', 'server.yaml', 'gateway/default.yaml']));
    const { json: file } = await get('/settings/file?path=keys.yaml');
    expect(file.text).toContain(`key: ${'•'.repeat(FILE_KEY.length)}\n`);
    expect(file).toMatchObject({ hash: settings.hash, masked: [{ line: 3 }] });
    expect((await get(`/settings/file?path=keys.yaml&hash=${settings.hash}`)).status).toBe(200);
    for (const query of ['path=../package.json', 'path=none.yaml', 'path=keys.yaml&hash=other', 'path=/etc/passwd'])
      expect([query, (await get(`/settings/file?${query}`)).status]).toEqual([query, 404]);
  });

  it('have a place for each target and condition of a record', async () => {
    const { json } = await get('/settings/places?config=default');
    const file = 'gateway/default.yaml';
    expect(json.places).toEqual({
      config: { file, line: 1, column: 1 },
      'config.conditions[0]': { file, line: 4, column: 7 },
      'config.default': { file, line: 6, column: 12 },
      'config.targets[0]': { file, line: 8, column: 5 },
      'config.targets[1]': { file, line: 9, column: 5 },
      'config.targets[1].targets[0]': { file, line: 12, column: 9 },
    });
    expect((await get('/settings/places?config=none')).status).toBe(404);
    expect((await get('/settings/places')).status).toBe(400);
  });

  it('stay when a reload is refused, whose mistakes are shown', async () => {
    const before = (await get('/settings')).json;
    writeFileSync(join(admin.configs, 'gateway/default.yaml'), `${CONFIG}colour: red\n`);
    await admin.gateway.reload();
    const { json: after } = await get('/settings');
    expect(after).toMatchObject({ hash: before.hash, reload: { ok: false } });
    expect(after.reload.diagnostics).toMatchObject([
      { file: 'gateway/default.yaml', line: 13, column: 1, severity: 'error' },
      { severity: 'warning' },
    ]);
    expect((await get('/settings/file?path=gateway/default.yaml')).json.text).toBe(CONFIG);
  });
});

describe('find', () => {
  it('has objects, configs and catalog entries by a part of their names', async () => {
    const { items } = (await get('/find?q=s')).json;
    expect(items).toEqual(
      expect.arrayContaining([
        { kind: 'providers', id: 'sim' },
        { kind: 'teams', id: 'search', place: expect.stringMatching(/^teams\.yaml:/) },
        { kind: 'keys', id: 'test', place: 'keys.yaml:2' },
      ]),
    );
    expect((await get('/find?q=default')).json.items).toMatchObject([{ kind: 'configs', id: 'default' }]);
    expect((await get('/find')).status).toBe(400);
  });
});

describe('a key', () => {
  it('has every limit above it, with its owner', async () => {
    const { effective } = (await get('/keys/test')).json;
    expect(effective).toMatchObject([
      { kind: 'budget', node: 'team:search', owner: expect.stringMatching(/^teams\.yaml:/), spec: { cap: '500 USD' } },
      { kind: 'config', node: 'gateway', spec: { default_config: 'default' } },
    ]);
  });
});
