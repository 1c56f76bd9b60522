import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newFileId } from '../file-ids.ts';
import { FILE_PURPOSES } from '../../../core/kernel/index.ts';
import { isAbandoned, nameOf, partialName, readName } from './file-names.ts';
import { LocalFileStore } from './local-store.ts';

const OWNER = 'test.0000000000000000';
const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

let folder: string;
let store: LocalFileStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
  store = new LocalFileStore(folder, HOUR);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (): string[] => readdirSync(join(folder, OWNER)).toSorted();

const details = { filename: 'ü"\\.txt', mime: 'text/plain', purpose: 'batch', expiresAt: NOW + HOUR } as const;

async function put(text: string, admit: (sizes: readonly number[]) => void = () => {}, id = newFileId(NOW)) {
  const upload = await store.begin(OWNER, id);
  try {
    for (const letter of text) await upload.write(Buffer.from(letter));
    return await upload.publish(details, admit);
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

async function contentOf(file: Awaited<ReturnType<typeof put>>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of store.read(OWNER, file)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('a store in a folder', () => {
  it('keeps bytes and details, and shows them to every process', async () => {
    const file = await put('hello');
    const other = new LocalFileStore(folder, HOUR);
    expect(await other.find(OWNER, file.id)).toEqual(file);
    expect(file).toMatchObject({ ...details, bytes: 5, createdAt: NOW });
    expect(await contentOf(file)).toBe('hello');
    expect(await other.entries(OWNER)).toMatchObject([{ id: file.id, bytes: 5 }]);
  });

  it('shows nothing of a file until it is published, and nothing afterwards of one that is discarded', async () => {
    const upload = await store.begin(OWNER, newFileId(NOW));
    await upload.write(Buffer.from('x'));
    expect(await store.entries(OWNER)).toEqual([]);
    expect(names()).toHaveLength(1);
    await upload.discard();
    expect(names()).toEqual([]);
  });

  it('counts a file among its owner’s before it admits it, and removes it when it is refused', async () => {
    await put('12345');
    const seen: number[][] = [];
    await expect(
      put('123', (sizes) => {
        seen.push(sizes.toSorted());
        throw new RangeError('too much');
      }),
    ).rejects.toThrow('too much');
    expect(seen).toEqual([[3, 5]]);
    expect(names()).toHaveLength(1);
  });

  it('removes a file once', async () => {
    const { id } = await put('x');
    expect([await store.remove(OWNER, id), await store.remove(OWNER, id), await store.find(OWNER, id)]).toEqual([
      true,
      false,
      undefined,
    ]);
  });

  it('has no files of an owner without a folder', async () => {
    expect([await store.entries('no.one'), await store.find('no.one', newFileId(NOW))]).toEqual([[], undefined]);
  });

  it('finds a file that is shorter than its name says', async () => {
    const file = await put('hello');
    writeFileSync(join(folder, OWNER, nameOf(file)), 'cut');
    await expect(contentOf(file)).rejects.toThrow('shorter than its name says');
  });

  it('sweeps expired files and abandoned uploads, and leaves files of others alone', async () => {
    const file = await put('x');
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
