import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newFileId } from '../file-ids.ts';
import { HOUR, NOW, OWNER, putFile, readFile, testFileStore } from '../file-store.testkit.ts';
import { FILE_PURPOSES } from '../../../core/kernel/index.ts';
import { isAbandoned, nameOf, partialName, readName } from './file-names.ts';
import { LocalFileStore } from './local-store.ts';

let folder: string;
let store: LocalFileStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
  store = new LocalFileStore(folder, HOUR);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (): string[] => readdirSync(join(folder, OWNER)).toSorted();

testFileStore('a store in a folder', () => ({
  store,
  other: new LocalFileStore(folder, HOUR),
  remains: () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length,
}));

describe('a store in a folder', () => {
  it('has no files of an owner without a folder', async () => {
    expect([await store.entries('no.one'), await store.find('no.one', newFileId(NOW))]).toEqual([[], undefined]);
  });

  it('finds a file that is shorter than its name says', async () => {
    const file = await putFile(store, 'hello');
    writeFileSync(join(folder, OWNER, nameOf(file)), 'cut');
    await expect(readFile(store, file)).rejects.toThrow('shorter than its name says');
  });

  it('sweeps expired files and abandoned uploads, and leaves files of others alone', async () => {
    const file = await putFile(store, 'x');
    writeFileSync(join(folder, OWNER, '.partial.elsewhere.1.0.old'), '');
    utimesSync(join(folder, OWNER, '.partial.elsewhere.1.0.old'), 0, 0);
    writeFileSync(join(folder, OWNER, '.partial.elsewhere.1.0.new'), '');
    writeFileSync(join(folder, OWNER, 'notes.txt'), '');
    mkdirSync(join(folder, 'empty'));
    expect(await store.sweep(Date.now() + 1000)).toEqual({ removed: 1, files: 1, bytes: 1 });
    expect(names()).toEqual(['.partial.elsewhere.1.0.new', nameOf(file), 'notes.txt'].toSorted());
    expect((await store.sweep(NOW + HOUR)).removed).toBeGreaterThanOrEqual(1);
    expect(names()).toContain('notes.txt');
    expect(names()).not.toContain(nameOf(file));
  });
});

describe('the name of a file on disk', () => {
  it('is read back as it was written', () => {
    const entry = fc.record({
      id: fc.nat(2 ** 40).map(newFileId),
      bytes: fc.nat(2 ** 50),
      purpose: fc.constantFrom(...FILE_PURPOSES),
      expiresAt: fc.nat(2 ** 32).map((seconds) => seconds * 1000),
    });
    fc.assert(
      fc.property(entry, (one) => {
        expect(readName(nameOf(one))).toEqual(one);
      }),
    );
  });

  it('is never read from another name', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readName(text)).toBeUndefined();
      }),
    );
  });

  it('shows whether the process that was writing has ended', () => {
    const own = partialName('x');
    expect(isAbandoned(own)).toBe(false);
    expect(isAbandoned(own.replace(/\.[0-9a-f]{8}\.x$/, '.00000000.x'))).toBe(true);
    // The largest process id of Linux is 2 ** 22.
    expect(isAbandoned(own.replace(`.${process.pid}.`, `.${2 ** 22 + 1}.`))).toBe(true);
    expect(isAbandoned('.partial.elsewhere.1.0.x')).toBe(false);
  });
});
