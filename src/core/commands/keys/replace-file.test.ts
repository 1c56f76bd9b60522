import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestFolder } from '../folder.testkit.ts';
import { CannotReplace, replaceFile } from './keys-file.ts';

let folder: TestFolder;
beforeEach(() => (folder = new TestFolder()));
afterEach(() => folder.remove());

const at = (name: string): string => join(folder.path, name);

describe('a file is replaced', () => {
  test.each([0o600, 0o640, 0o664, 0o400])('and keeps its mode %o', async (mode) => {
    chmodSync(folder.write('keys.yaml', 'old'), mode);
    await replaceFile(at('keys.yaml'), 'new', 'old');
    expect([folder.read('keys.yaml'), statSync(at('keys.yaml')).mode & 0o7777]).toEqual(['new', mode]);
    expect(folder.list()).toEqual(['keys.yaml']);
  });

  test('atomically: open handles keep reading the old file', async () => {
    folder.write('keys.yaml', 'old');
    const before = statSync(at('keys.yaml')).ino;
    await replaceFile(at('keys.yaml'), 'new', 'old');
    expect(statSync(at('keys.yaml')).ino).not.toBe(before);
  });

  test('behind a symbolic link, which stays a link', async () => {
    folder.write('real/keys.yaml', 'old');
    mkdirSync(at('configs'));
    symlinkSync('../real/keys.yaml', at('configs/keys.yaml'));
    await replaceFile(at('configs/keys.yaml'), 'new', 'old');
    expect([lstatSync(at('configs/keys.yaml')).isSymbolicLink(), folder.read('real/keys.yaml')]).toEqual([true, 'new']);
    expect(folder.list()).toEqual(['configs/', 'configs/keys.yaml', 'real/', 'real/keys.yaml']);
  });

  test('and keeps its byte order mark', async () => {
    folder.write('keys.yaml', '\uFEFFold');
    await replaceFile(at('keys.yaml'), 'new', 'old');
    expect(readFileSync(at('keys.yaml'))).toEqual(Buffer.from('\uFEFFnew'));
  });
});

describe('a file stays unchanged', () => {
  test('if another process has changed it in the meantime', async () => {
    folder.write('keys.yaml', 'theirs');
    await expect(replaceFile(at('keys.yaml'), 'new', 'old')).rejects.toThrow(
      new CannotReplace('another process has changed it in the meantime; try again'),
    );
    expect([folder.read('keys.yaml'), folder.list()]).toEqual(['theirs', ['keys.yaml']]);
  });

  test.each<[string, string, () => void]>([
    ['it does not exist', 'ENOENT', () => {}],
    ['it is a dangling link', 'ENOENT', () => symlinkSync('nowhere', at('keys.yaml'))],
    ['it is a folder', 'EISDIR', () => mkdirSync(at('keys.yaml'))],
  ])('if %s', async (_, code, prepare) => {
    prepare();
    const before = folder.list();
    await expect(replaceFile(at('keys.yaml'), 'new', 'old')).rejects.toThrow(
      new CannotReplace(`it cannot be replaced (${code})`),
    );
    expect(folder.list()).toEqual(before);
  });
});
