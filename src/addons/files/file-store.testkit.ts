import { describe, expect, it } from 'vitest';
import type { StoredFile } from '../../core/kernel/index.ts';
import { newFileId } from './file-ids.ts';
import type { FileStore } from './file-store.ts';

export const OWNER = 'test.0000000000000000';
export const NOW = 1_800_000_000_000;
export const HOUR = 3_600_000;

const DETAILS = { filename: 'ü"\\.txt', mime: 'text/plain', purpose: 'batch', expiresAt: NOW + HOUR } as const;

export interface TestedStore {
  readonly store: FileStore;
  /** The same store in another process. */
  readonly other: FileStore;
  /** The number of files or objects, and of unfinished uploads, that anything has left. */
  readonly remains: () => number;
}

interface Put {
  readonly admit?: (sizes: readonly number[]) => void;
  readonly owner?: string;
  readonly id?: string;
}

export async function putFile(store: FileStore, text: string, { admit = () => {}, owner = OWNER, id }: Put = {}) {
  const upload = await store.begin(owner, id ?? newFileId(NOW), DETAILS.filename);
  try {
    for (const letter of text) await upload.write(Buffer.from(letter));
    return await upload.publish(DETAILS, admit);
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

export async function readFile(store: FileStore, file: StoredFile): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of store.read(OWNER, file)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The contract of `FileStore`. @param open called in each test */
export function testFileStore(name: string, open: () => TestedStore): void {
  describe(`${name}, as every store of files,`, () => {
    it('keeps bytes and details, and shows them to every process', async () => {
      const { store, other } = open();
      const file = await putFile(store, 'hello');
      expect(await other.find(OWNER, file.id)).toEqual(file);
      expect(file).toMatchObject({ ...DETAILS, bytes: 5, createdAt: NOW });
      expect(await readFile(other, file)).toBe('hello');
      const [entry] = await other.entries(OWNER);
      expect(entry).toMatchObject({ id: file.id, bytes: 5, purpose: 'batch', expiresAt: NOW + HOUR });
      expect(await other.details(OWNER, entry!)).toEqual(file);
    });

    it('lists files in the order of their ids', async () => {
      const { store } = open();
      const ids = [NOW + 2, NOW, NOW + 1].map(newFileId);
      for (const id of ids) await putFile(store, 'x', { id });
      expect((await store.entries(OWNER)).map(({ id }) => id)).toEqual(ids.toSorted());
    });

    it('shows nothing of a file until it is published, and keeps nothing of one that is discarded', async () => {
      const { store, remains } = open();
      const upload = await store.begin(OWNER, newFileId(NOW), 'a.txt');
      await upload.write(Buffer.from('x'));
      expect(await store.entries(OWNER)).toEqual([]);
      await upload.discard();
      expect(remains()).toBe(0);
    });

    it('counts a file among its owner’s before it admits it, and removes it when it is refused', async () => {
      const { store, other, remains } = open();
      await putFile(store, '12345');
      const seen: number[][] = [];
      const admit = (sizes: readonly number[]): void => {
        seen.push(sizes.toSorted());
        throw new RangeError('too much');
      };
      await expect(putFile(other, '123', { admit })).rejects.toThrow('too much');
      expect([seen, remains()]).toEqual([[[3, 5]], 1]);
    });

    it('keeps the files of owners apart', async () => {
      const { store } = open();
      const { id } = await putFile(store, 'x', { owner: 'other.0000000000000000' });
      const admitted: number[] = [];
      await putFile(store, '12', { admit: (sizes) => void admitted.push(...sizes) });
      expect([await store.find(OWNER, id), await store.remove(OWNER, id), admitted]).toEqual([undefined, false, [2]]);
    });

    it('removes a file once, wholly', async () => {
      const { store, other, remains } = open();
      const { id } = await putFile(store, 'x');
      expect([await store.remove(OWNER, id), await other.remove(OWNER, id), await store.find(OWNER, id)]).toEqual([
        true,
        false,
        undefined,
      ]);
      expect(remains()).toBe(0);
    });

    it('has no files of an owner that has uploaded none', async () => {
      const { store } = open();
      expect([await store.entries('no.one'), await store.find('no.one', newFileId(NOW))]).toEqual([[], undefined]);
    });

    it('sweeps expired files, and counts those that stay', async () => {
      const { store, remains } = open();
      await putFile(store, 'abc');
      expect(await store.sweep(NOW + HOUR - 1000)).toEqual({ removed: 0, files: 1, bytes: 3 });
      expect(await store.sweep(NOW + HOUR)).toEqual({ removed: 1, files: 0, bytes: 0 });
      expect(remains()).toBe(0);
    });
  });
  testPieces(name, open);
}

/** Sizes as Google's clients send them. */
const PIECE = 256 * 1024;

function testPieces(name: string, open: () => TestedStore): void {
  describe(`an upload in pieces to ${name}`, () => {
    const begun = async (store: FileStore): Promise<{ id: string; now: number }> => {
      const now = Date.now();
      const id = newFileId(now);
      await store.beginInPieces(OWNER, id, { filename: 'ü.bin', declared: 'application/octet-stream' });
      return { id, now };
    };
    const resumed = async (store: FileStore, id: string, now: number) => {
      const upload = await store.resume(OWNER, id, now);
      if (upload === undefined || upload === 'busy') throw new Error(`the upload is ${upload}`);
      return upload;
    };

    it('goes on in any process, and counts while it is unfinished', async () => {
      const { store, other } = open();
      const { id, now } = await begun(store);
      const first = await resumed(other, id, now);
      expect(first).toMatchObject({ received: 0, filename: 'ü.bin', declared: 'application/octet-stream' });
      await first.write(Buffer.alloc(PIECE, 'a'));
      expect(await first.suspend(Buffer.from('aa'))).toBe(PIECE);
      expect(await store.received(OWNER, id, now)).toBe(PIECE);
      expect(await store.unfinished(OWNER)).toEqual([{ id, bytes: PIECE }]);
      const second = await resumed(store, id, now);
      expect([second.received, second.head.subarray(0, 2).toString()]).toEqual([PIECE, 'aa']);
      await second.write(Buffer.from('end'));
      const file = await second.publish({ ...DETAILS, expiresAt: now + HOUR }, () => {});
      expect([file.bytes, await readFile(other, file)]).toEqual([PIECE + 3, `${'a'.repeat(PIECE)}end`]);
      expect([await other.received(OWNER, id, now), await other.unfinished(OWNER)]).toEqual([undefined, []]);
    });

    it('leaves nothing when it is discarded', async () => {
      const { store, remains } = open();
      const { id, now } = await begun(store);
      await (await resumed(store, id, now)).discard();
      expect([await store.resume(OWNER, id, now), remains()]).toEqual([undefined, 0]);
    });

    it('ends an hour after its last piece, and the sweep removes it', async () => {
      const { store, remains } = open();
      const { id, now } = await begun(store);
      expect(await store.resume(OWNER, id, now + 2 * HOUR)).toBeUndefined();
      await store.sweep(now + 2 * HOUR);
      expect(remains()).toBe(0);
    });
  });
}
