import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describe } from './diagnostic.ts';
import { diskFiles, MAX_FILE_BYTES, memoryFiles } from './files.ts';
import { loadSettings } from '../read/load.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'text'), 'täxt\n');
  writeFileSync(join(folder, 'bom'), '\uFEFFtext');
  writeFileSync(join(folder, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(folder, 'large'), Buffer.alloc(MAX_FILE_BYTES + 1, 'a'));
  writeFileSync(join(folder, 'full'), Buffer.alloc(MAX_FILE_BYTES, 'a'));
  symlinkSync('text', join(folder, 'link'));
  symlinkSync('loop', join(folder, 'loop'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['text', { text: 'täxt\n' }],
  ['link', { text: 'täxt\n' }],
  ['bom', { text: 'text' }],
  ['full', { text: 'a'.repeat(MAX_FILE_BYTES) }],
  ['none', { missing: true }],
  ['text/inside', { missing: true }],
  ['empty', { problem: 'is not a regular file' }],
  ['large', { problem: `is larger than ${MAX_FILE_BYTES} bytes` }],
  ['binary', { problem: 'is not UTF-8 text' }],
  ['loop', { problem: 'cannot be read (ELOOP)' }],
])('reading %s', async (name, expected) => {
  expect(await diskFiles.read(join(folder, name))).toEqual(expected);
});

test('devices and pipes are not read, because they may never end', async () => {
  expect(await diskFiles.read('/dev/zero')).toEqual({ problem: 'is not a regular file' });
});

test.each([
  ['empty', { names: [], folders: [] }],
  ['none', { missing: true }],
  ['text', { problem: 'is a file, not a folder' }],
  ['loop', { problem: 'cannot be read (ELOOP)' }],
])('listing %s', async (name, expected) => {
  expect(await diskFiles.list(join(folder, name))).toEqual(expected);
});

test('a folder that cannot be listed is a diagnostic, not an exception', async () => {
  const files = { ...memoryFiles({}), list: async () => ({ problem: 'cannot be read (EACCES)' }) };
  const result = await loadSettings('c', { env: {}, files });
  expect([result.folderExists, result.diagnostics.map(describe)]).toEqual([
    false,
    ['c:1:1: this cannot be read (EACCES)'],
  ]);
});

test('a file in place of the folder of gateway configs is a diagnostic', async () => {
  const dir = join(folder, 'configs');
  mkdirSync(dir);
  writeFileSync(join(dir, 'catalog.yaml'), 'providers: []\n');
  writeFileSync(
    join(dir, 'keys.yaml'),
    'keys: [{ id: a, digest: "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }]\n',
  );
  writeFileSync(join(dir, 'gateway'), 'name: prod\n');
  const result = await loadSettings(dir, { env: {} });
  expect(result.diagnostics.map(describe)).toEqual([`${join(dir, 'gateway')}:1:1: this is a file, not a folder`]);
});
