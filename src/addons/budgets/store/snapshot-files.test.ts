import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnapshotFiles } from './snapshot-files.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gatehouse-snapshots-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const snapshot = (version: number, at = version) => ({ version, at, text: `{"keys":["${version}"]}\nmore` });
const pieces = (version: number, at = version) => ({ version, at, pieces: [`{"keys":["${version}"]}\n`, 'more'] });
const path = (version: number): string => join(folder, `snapshot-${version}.json`);
const names = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('snapshot-'))
    .sort();

describe('snapshots of a store on disk', () => {
  it('are the last three, readable by their owner only', async () => {
    const files = new SnapshotFiles(folder, undefined);
    for (const version of [8, 9, 10, 11]) await files.write(pieces(version));
    expect(names()).toEqual(['snapshot-10.json', 'snapshot-11.json', 'snapshot-9.json']);
    expect([path(11), join(folder, 'snapshot.key')].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(new SnapshotFiles(folder, undefined).read(0)).toMatchObject(snapshot(11));
  });

  it('are no longer read when they are too old', async () => {
    const files = new SnapshotFiles(folder, undefined);
    await files.write(pieces(1, 1_000));
    expect([files.read(1_000)?.version, files.read(1_001)]).toEqual([1, undefined]);
  });

  it.each([
    ['was edited', (text: string) => text.replace('keys', 'kexs')],
    ['was cut', (text: string) => text.slice(0, text.length / 2)],
    ['is empty', () => ''],
    ['was copied from another version', () => readFileSync(path(1), 'utf8')],
  ])('are passed over when the newest %s', async (_, change) => {
    const files = new SnapshotFiles(folder, undefined);
    await files.write(pieces(1));
    await files.write(pieces(2));
    writeFileSync(path(2), change(readFileSync(path(2), 'utf8')));
    expect(files.read(0)).toMatchObject(snapshot(1));
  });

  it('show that a store went back to an earlier version, until its operator accepts that', async () => {
    const files = new SnapshotFiles(folder, undefined);
    for (const version of [7, 8, 9]) await files.write(pieces(version));
    expect(files.newest()).toBe(9);
    files.forgetAfter(7);
    expect([names(), files.newest(), files.read(0)?.version]).toEqual([['snapshot-7.json'], 7, 7]);
  });

  it('count only with the key that signed them', async () => {
    await new SnapshotFiles(folder, Buffer.alloc(32, 1)).write(pieces(1));
    expect(new SnapshotFiles(folder, Buffer.alloc(32, 2)).read(0)).toBeUndefined();
    expect(new SnapshotFiles(folder, Buffer.alloc(32, 1)).read(0)).toMatchObject(snapshot(1));
  });
});
