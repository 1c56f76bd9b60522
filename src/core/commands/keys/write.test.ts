import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyRing } from '../../settings/compile/key-ring.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { keepOutput, TestFolder } from '../folder.testkit.ts';
import { writeKeyCommand, type KeyRequest } from './create.ts';
import { readKeys, writeKeys } from './keys-file.ts';
import { revokeKeyCommand } from './revoke.ts';

const NOW = Date.UTC(2026, 10, 21);
const KEYS = `# Ours.
keys:
  # The team's.
  - id: team # for search
    key: \${env:NOT_SET_IN_THIS_SHELL}

  - id: other
    digest: sha256:${'0'.repeat(64)}
`;

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write('catalog.yaml', 'providers:\n  - { slug: sim, provider: openai, base_url: "https://sim.example/v1" }\n');
  folder.write('keys.yaml', KEYS);
});
afterEach(() => folder.remove());

async function run(command: (output: Parameters<typeof revokeKeyCommand>[1]) => Promise<number>) {
  const { printed, ...output } = keepOutput();
  const code = await command({ ...output, dir: folder.path, env: {}, now: NOW });
  const here = (text: string) => text.replaceAll(folder.path, 'DIR');
  return { code, out: here(printed.out), err: here(printed.err) };
}
const create = (request: KeyRequest) => run((options) => writeKeyCommand(request, options));
const revoke = (id: string) => run((options) => revokeKeyCommand(id, options));

describe('keys create --write', () => {
  test('adds an entry that accepts the printed key, and changes nothing else', async () => {
    const { code, out, err } = await create({ id: 'new', providers: ['@sim'], expires: '90d' });
    const key = /gatehouse_\S+/.exec(out)?.[0] ?? '';
    expect([code, err, folder.read('keys.yaml').startsWith(KEYS)]).toEqual([0, '', true]);
    expect(folder.read('keys.yaml')).not.toContain(key);
    const { settings } = await loadSettings(folder.path, {
      env: { NOT_SET_IN_THIS_SHELL: 'a-key-of-the-team' },
      now: NOW,
    });
    expect(createKeyRing(settings!.keys, { wall: () => NOW }).find(key, '127.0.0.1')).toMatchObject({
      keyId: 'new',
      providers: ['@sim'],
    });
    expect(out).toContain('A running gateway that watches its files');
  });

  test.each<[string, KeyRequest, 1 | 2, string]>([
    ['an id that exists', { id: 'team' }, 1, 'already'],
    ['an invalid id', { id: 'a b' }, 2, '--id'],
    ['a provider that is not in the catalog', { id: 'new', providers: ['@smi'] }, 1, 'did you mean "@sim"?'],
  ])('refuses %s: nothing is written and no key printed', async (_, request, code, words) => {
    expect(await create(request)).toEqual({ code, out: '', err: expect.stringContaining(words) });
    expect(folder.read('keys.yaml')).toBe(KEYS);
  });

  test('says if a running gateway needs a signal, and if errors in other files keep it from reloading', async () => {
    folder.write('server.yaml', 'reload: { watch: false }\n');
    expect((await create({ id: 'new' })).out).toMatch(
      /reads DIR\/keys\.yaml when you send it SIGHUP: kill -HUP PID\n$/,
    );
    folder.write('server.yaml', 'lisen: {}\n');
    const { code, out } = await create({ id: 'newer' });
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('other files in DIR have errors, as read from here (DIR/server.yaml:1'),
    ]);
  });

  test('does not edit a file with errors', async () => {
    folder.write('keys.yaml', 'keys:\n  - { id: a }\n');
    expect(await create({ id: 'new' })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('DIR/keys.yaml:2:'),
    });
    expect(folder.read('keys.yaml')).toBe('keys:\n  - { id: a }\n');
  });

  test('asks for an edit by hand if it cannot edit safely', async () => {
    const text = `keys: &all\n  - { id: a, digest: "sha256:${'0'.repeat(64)}", models: &m [x] }\n  - { id: b, digest: "sha256:${'1'.repeat(64)}", models: *m }\n`;
    folder.write('keys.yaml', text);
    expect(await revoke('a')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^DIR\/keys\.yaml was not changed: .*by hand\n$/),
    });
    expect(folder.read('keys.yaml')).toBe(text);
  });

  test('without the folder has exit code 2', async () => {
    folder.remove();
    expect(await create({ id: 'new' })).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining('there is no such folder'),
    });
  });

  test('changes nothing if another process writes at the same time', async () => {
    const keys = await readKeys(folder.path, { env: {}, now: NOW });
    folder.write('keys.yaml', '# theirs\nkeys: []\n');
    const reported = await run(async (options) =>
      'text' in keys && (await writeKeys(keys, { text: `${KEYS}# more\n` }, options)) ? 0 : 1,
    );
    expect(reported).toEqual({
      code: 1,
      out: '',
      err: 'DIR/keys.yaml was not changed: another process has changed it in the meantime; try again\n',
    });
    expect(folder.read('keys.yaml')).toBe('# theirs\nkeys: []\n');
  });
});

describe('keys revoke', () => {
  test('removes the entry and names the line of a comment that may be about it', async () => {
    chmodSync(join(folder.path, 'keys.yaml'), 0o640);
    const { code, out, err } = await revoke('team');
    expect([code, err]).toEqual([0, '']);
    expect(folder.read('keys.yaml')).toBe(KEYS.replace(/ {2}- id: team[^]*?\n\n/, '\n'));
    expect(out).toMatch(/^Removed `team` from DIR\/keys\.yaml; a comment above it stays\.\n/);
    expect(statSync(join(folder.path, 'keys.yaml')).mode & 0o777).toBe(0o640);
  });

  test('leaves a valid empty list', async () => {
    expect([(await revoke('team')).code, (await revoke('other')).code]).toEqual([0, 0]);
    expect(folder.read('keys.yaml')).toMatch(/^keys: \[\]$/m);
    expect((await loadSettings(folder.path, { env: {} })).ok).toBe(true);
  });

  test.each([
    ['taem', '; did you mean "team"?\n'],
    ['nothing-like-it', '"nothing-like-it"\n'],
  ])('does not find %s: exit code 1 and nothing changed', async (id, ending) => {
    const { code, out, err } = await revoke(id);
    expect([code, out, err.endsWith(ending)]).toEqual([1, '', true]);
    expect(folder.read('keys.yaml')).toBe(KEYS);
  });

  test('without the folder has exit code 2', async () => {
    folder.remove();
    expect(await revoke('team')).toMatchObject({ code: 2, err: expect.stringContaining('there is no such folder') });
  });
});
