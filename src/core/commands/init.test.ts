import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateSamples } from '../../../schemas/samples.ts';
import { packageFile } from '../kernel/package-root.ts';
import { isWellFormedKey } from '../settings/compile/api-keys.ts';
import { createKeyRing } from '../settings/compile/key-ring.ts';
import { SCHEMA_NAMES } from '../settings/schema/schema-files.ts';
import { loadSettings } from '../settings/read/load.ts';
import { keepOutput, TestFolder } from './folder.testkit.ts';
import { initCommand } from './init.ts';
import { readKeys } from './keys/keys-file.ts';

let folder: TestFolder;
beforeEach(() => (folder = new TestFolder()));
afterEach(() => folder.remove());

async function init(name: string) {
  const { printed, ...output } = keepOutput();
  return { code: await initCommand(join(folder.path, name), output), ...printed };
}

const SETTINGS = [
  'catalog.yaml',
  'gateway/',
  'gateway/fallback-example.test.yaml',
  'gateway/fallback-example.yaml',
  'keys.yaml',
  'server.yaml',
];
const SCHEMAS = ['.schemas/', ...SCHEMA_NAMES.map((name) => `.schemas/${name}.json`).toSorted()];

test('src/core/commands/samples.generated.ts matches the output of `npm run generate`', () => {
  expect(readFileSync(packageFile('src/core/commands/samples.generated.ts'), 'utf8')).toBe(generateSamples());
});

describe('gatehouse init', () => {
  test('creates a valid folder without warnings', async () => {
    const { code, out, err } = await init('a/configs');
    expect([code, err]).toEqual([0, '']);
    expect(folder.list()).toEqual([
      'a/',
      'a/configs/',
      ...[...SCHEMAS, ...SETTINGS].map((name) => `a/configs/${name}`),
    ]);
    for (const name of SETTINGS.filter((name) => !name.endsWith('/'))) {
      expect(out).toContain(join(folder.path, 'a/configs', name));
      expect(folder.read(`a/configs/${name}`)).toMatch(
        /^# yaml-language-server: \$schema=(?:\.\.\/)?\.schemas\/[a-z]+\.json\n#/,
      );
    }
    const { diagnostics } = await loadSettings(join(folder.path, 'a/configs'), { env: {} });
    // The samples are those of a build with all add-ons.
    expect(diagnostics.filter(({ message }) => !message.startsWith('this build has no add-on'))).toEqual([]);
  });

  test('creates a gateway key, prints it once and stores only its digest', async () => {
    const { out } = await init('configs');
    const key = /gatehouse_\S+/.exec(out)?.[0] ?? '';
    expect([isWellFormedKey(key), out.split(key).length - 1]).toEqual([true, 1]);
    for (const name of folder.list().filter((name) => !name.endsWith('/')))
      expect(folder.read(name)).not.toContain(key);
    const read = await readKeys(join(folder.path, 'configs'), { env: {}, now: Date.now() });
    const { keys } = 'keys' in read ? read : expect.fail('keys.yaml is not valid');
    expect(createKeyRing({ keys: [...keys] }, { wall: Date.now }).find(key, '203.0.113.1')).toMatchObject({
      keyId: 'first',
    });
  });

  test('creates another key each time', async () => {
    const [a, b] = [await init('a'), await init('b')].map(({ out }) => /gatehouse_\S+/.exec(out)?.[0]);
    expect(a).not.toBe(b);
  });

  test('quotes the folder for the shell in the line that starts the gateway', async () => {
    expect((await init('my configs')).out).toContain(`gatehouse serve --configs '${folder.path}/my configs'\n`);
  });

  test.each([
    [{ npm_command: 'exec' }, '  npx gatehouse serve'],
    [{ npm_command: 'run', npm_lifecycle_event: 'gatehouse' }, '  npm run -s gatehouse -- serve'],
    [{}, '  npx gatehouse serve'],
  ])('names a command that starts the gateway, after the way in which npm started it: %o', async (env, line) => {
    const { printed, ...output } = keepOutput();
    await initCommand(join(folder.path, 'configs'), { ...output, env });
    expect(printed.out).toContain(`\n${line} --configs `);
  });

  test.each(['keys.yaml', 'gateway/fallback-example.yaml', '.schemas/keys.json'])(
    'overwrites nothing: if %s exists, it creates nothing',
    async (name) => {
      folder.write(`configs/${name}`, '# ours\n');
      const before = folder.list();
      const { code, out, err } = await init('configs');
      expect([code, out, err]).toEqual([
        1,
        '',
        expect.stringContaining(`these files exist: ${folder.path}/configs/${name}\n`),
      ]);
      expect([folder.list(), folder.read(`configs/${name}`)]).toEqual([before, '# ours\n']);
    },
  );

  test('does not write through a dangling link', async () => {
    folder.write('configs/other.txt', '');
    symlinkSync('../elsewhere.yaml', join(folder.path, 'configs/server.yaml'));
    expect(await init('configs')).toMatchObject({ code: 1, out: '' });
    expect(folder.list()).toEqual(['configs/', 'configs/other.txt', 'configs/server.yaml']);
  });

  test('leaves other files in the folder alone', async () => {
    folder.write('configs/gateway/ours.yaml', 'provider: "@ours"\n');
    expect((await init('configs')).code).toBe(0);
    expect(folder.read('configs/gateway/ours.yaml')).toBe('provider: "@ours"\n');
  });

  test.each(['gateway', '.schemas'])('removes what it has created if it cannot create %s', async (name) => {
    folder.write(`a/configs/${name}`, 'a file where a folder should be');
    const before = folder.list();
    expect(await init('a/configs')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^gatehouse: nothing was created: E/),
    });
    expect(folder.list()).toEqual(before);
  });

  test.skipIf(process.getuid?.() === 0)('leaves no folder behind where it may not write', async () => {
    folder.write('locked/file', '');
    chmodSync(join(folder.path, 'locked'), 0o500);
    expect((await init('locked/a/b')).code).toBe(1);
    expect(folder.list()).toEqual(['locked/', 'locked/file']);
    chmodSync(join(folder.path, 'locked'), 0o700);
  });
});
